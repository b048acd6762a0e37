"""People outside the table: a population that is given, and estimates of one that is not."""
