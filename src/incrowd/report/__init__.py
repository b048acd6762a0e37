"""What people are shown of a result."""
