"""Runs whose draws are known."""

from incrowd.key import Key
from incrowd.run import Run


def seeded(number):
    """A run with a key that a test can name, so that what it draws is the same every time."""
    return Run(key=Key.for_experiments(number))
