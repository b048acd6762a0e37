"""Several methods with several k on one table: each in a process of its own, kept in a log, written to a folder."""
