"""The version of incrowd, also for who packs it."""

__version__ = "0.1.0"
