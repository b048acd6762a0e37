"""Counting a release again as a recipient would, and what is promised of it: witness, certificate, verify."""
