"""Trees of values: what they are, how they are read from files, and how rules build them out of values."""
