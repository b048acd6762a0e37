"""How good a local release is: a loss below which no local recoding can be, and for small tables the least loss."""
