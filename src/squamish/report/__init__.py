"""The verdict for people: words, a page, pictures, frames."""
