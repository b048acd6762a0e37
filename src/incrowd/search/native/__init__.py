"""Kernels: the inner loops of searches, in C, and what compiles, finds and calls them."""
