"""One small mistake that somebody could make, and the tests that should notice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """A change of one place in the code.

    Args:
        file: The file below `src/incrowd`.
        before: What stands there; it must occur exactly once.
        after: What is put there instead.
        tests: Test files, or single tests, below `tests`, that should notice.
        equivalent: Why no test can notice, for a change that changes nothing; empty for all others.
    """

    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    equivalent: str = ""

    @property
    def name(self) -> str:
        """The change in one line."""
        return f"{self.file}: {' '.join(self.before.split())} -> {' '.join(self.after.split())}"


def of(file: str, before: str, after: str, *tests: str, equivalent: str = "") -> Mutation:
    """A mutation, written in one line."""
    return Mutation(file, before, after, tests, equivalent)
