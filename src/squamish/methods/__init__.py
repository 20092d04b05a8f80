"""Ways to decide the class of every feature."""
