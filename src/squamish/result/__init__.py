"""The verdict as an object."""
