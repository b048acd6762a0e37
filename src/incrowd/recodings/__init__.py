"""What values became: the recoding of an attribute, of a table, and (in `local`) of every tuple by itself."""
