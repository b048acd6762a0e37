"""The command line: options, commands, and what is printed of their results."""

from incrowd.cli.commands import app, main

__all__ = ["app", "main"]
