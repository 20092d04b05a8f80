"""What a column adds to all others."""
