"""What comes out of a search: a release, its files, and what can be done with it later."""
