"""Data dictionaries of a release, for archives and for programs that read it.

`described` says what is known of each released column, `frictionless` and `ddi` write that in a format, `formats` lists
those.
"""
