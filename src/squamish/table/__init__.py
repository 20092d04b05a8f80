"""Taking tables in: any frame or file becomes a checked table."""
