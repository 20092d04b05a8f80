"""Who replaces whom."""
