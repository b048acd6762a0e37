"""Engines do only what touches rows: read, compress, apply a recoding, write. All give the same release."""
