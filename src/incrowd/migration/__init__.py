"""Projects of other tools, read as text and never run: a policy, and a list of what has no counterpart."""
