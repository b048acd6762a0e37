"""Why a column lost so much, and what would help."""
