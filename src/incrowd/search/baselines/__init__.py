"""Methods that the papers compare with, each a family of its own."""
