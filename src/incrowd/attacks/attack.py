"""`attack`: plays attackers against a release, of incrowd or of any other tool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from incrowd.attacks.posterior import Rerun
from incrowd.attacks.problem import TRIALS, Problem, problem_of
from incrowd.attacks.registry import ATTACKS, NOT_TRIED
from incrowd.attacks.result import AttackReport, NotApplicableError, Result
from incrowd.display import watching
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.formats.reader_options import take_reader_options
from incrowd.formats.registry import open_as_release, open_source
from incrowd.policy.making import make_policy
from incrowd.policy.options import ATTACK
from incrowd.policy.policy import Policy
from incrowd.policy.toml import read_attack_settings, read_policy
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.recodings.recoding import Recoding
    from incrowd.run import Watch


def attack(
    release: Any,
    original: Any = None,
    *,
    policy: Policy | str | Path | None = None,
    control: Any = None,
    others: Iterable[Any] = (),
    again: Callable[[pa.Table], pa.Table | None] | None = None,
    codebook: Recoding | str | Path | None = None,
    only: Iterable[str] | None = None,
    trials: int | None = None,
    seed: int | None = None,
    max_excess: float | None = None,
    progress: Watch | bool | None = None,
    run: Run | None = None,
    **options: Any,
) -> AttackReport:
    """Play attackers against a release.

    Args:
        release: A release: what `anonymize` returned, the path of a file, or a pandas, polars or pyarrow table, of
            incrowd or of any other tool.
        original: The table that it was made from; a release of `anonymize` knows it.
        policy: What the attacker may know and what should hold: a policy, or its file. Otherwise say it in the words of
            `anonymize`, such as `quasi_identifiers`, `k`, `sensitive` and `taxonomies`.
        control: Other people of the same population, who are not in the original: the fairest control.
        others: Other releases of the same people, for attacks that combine them.
        again: Makes the released rows of another table with the same settings, as Arrow tables, or gives None where
            there are none: for attackers who know the method (`posterior`, on tables of up to seven records, and
            `last-record`, on a sample), within 30 s of CPU time each. `release.attack()` gives it by itself.
        codebook: What labels stand for: the recoding of a global method, its file, or a CSV file with the columns
            column, label and value. Without it, labels are looked up in taxonomies and read by their grammar.
        only: The attacks to play; if None what the policy file says in its table `attack`, else all.
        trials: How often attacks are tried that are too costly to try on everybody; as above, else 2,000.
        seed: What is drawn at random comes from it; as above, else 0.
        max_excess: The most by which an attack may exceed its control, for `require()`; as above, else any.
        progress: As in `anonymize`.
        run: Told of progress instead, and asked whether to go on.
        **options: Words of a policy, and how to read files; see `ReaderOptions`.

    Returns:
        What each attack achieved. `leaks` are those that surely learned something; `require()` raises
        NotAnonymousError if one exceeds `max_excess`.

    Raises:
        PolicyError: What was asked contradicts itself or the tables.
        DataError: A table or a label cannot be read.

    Example:
        >>> import incrowd, pyarrow
        >>> people = pyarrow.table({"age": [31, 32, 41, 42], "ill": ["no", "yes", "no", "yes"]})
        >>> rows = pyarrow.table({"age": ["[30-40)", "[30-40)", "[40-50)", "[40-50)"], "ill": ["no", "yes"] * 2})
        >>> found = incrowd.attack(rows, people, quasi_identifiers=["age"], k=2, sensitive=["ill"], only=["linking"])
        >>> found["linking"].sentence.partition(";")[0]
        'nobody has fewer than 2 candidates (the fewest are 2)'
    """
    reading = take_reader_options(options)
    asked, file_reading = _policy(policy, options, release)
    if asked.form:
        raise PolicyError(
            f"the attacks take a released number for the value itself, and crowds show one number of "
            f"'{next(iter(asked.form))}' (form), which others in them do not have; attack a release without the form"
        )
    given = {"only": only, "trials": trials, "seed": seed, "max_excess": max_excess}
    settings = Settings.of(policy if isinstance(policy, str | Path) else None, given)
    source, original = _opened(release, original, {**file_reading, **reading})
    if codebook is None and hasattr(release, "recoding") and release.recoding.by_row:
        codebook = release.recoding
    with watching(progress) as watch:
        run = run or Run(watch)
        opened = None if control is None else open_source(control)
        tables = [open_source(each) for each in others]
        problem = problem_of(
            source, original, asked, control=opened, others=tables, codebook=codebook, trials=settings.trials, run=run
        )
        return played(problem_again(problem, original, again, settings.seed), settings, run)


def problem_again(
    problem: Problem, original: Source, again: Callable[[pa.Table], pa.Table | None] | None, seed: int
) -> Problem:
    """The same for attackers who know how the release was made."""
    if again is None:
        return problem
    return replace(problem, rerun=Rerun.of(original, problem.original.records, again, np.random.default_rng(seed)))


@dataclass(frozen=True)
class Settings:
    """What to play: see `attack`."""

    only: tuple[str, ...] = tuple(ATTACKS)
    trials: int = TRIALS
    seed: int = 0
    max_excess: float | None = None

    @classmethod
    def of(cls, file: str | Path | None, given: Mapping[str, Any]) -> Settings:
        """Those of a policy file, if there is one, and those that were given, which win.

        Raises:
            PolicyError: One is not what it must be.
        """
        own = {word: ATTACK[word].checked(word, value) for word, value in given.items() if value is not None}
        words = {**({} if file is None else read_attack_settings(file)), **own}
        for name in words.get("only", ()):
            if name not in ATTACKS:
                raise UnknownNameError("attack", name, ATTACKS)
        return cls(**{word: value for word, value in words.items() if value not in (None, ())})


def played(problem: Problem, settings: Settings, run: Run) -> AttackReport:
    """Play attacks; each draws from a source of its own, so that one does not change another."""
    results: list[Result] = []
    skipped: dict[str, str] = {}
    for number, name in enumerate(ATTACKS):
        if name not in settings.only:
            continue
        run.stage(f"attack: {ATTACKS[name].title.lower()}")
        rng = np.random.default_rng([settings.seed, number])
        try:
            results.append(run.in_thread(partial(ATTACKS[name].play, problem, rng, run)))
        except NotApplicableError as reason:
            skipped[name] = str(reason)
    left = [name for name in ATTACKS if name not in settings.only]
    return AttackReport(
        problem.released.table.name,
        problem.original.records,
        tuple(sorted(results, key=lambda result: result.attack.group.place)),
        skipped,
        (*([f"{', '.join(left)} (not asked for)"] if left else []), *NOT_TRIED),
        problem.notes,
        settings.seed,
        settings.max_excess,
    )


def _policy(given: Any, options: dict[str, Any], release: Any) -> tuple[Policy, dict[str, Any]]:
    """The policy, and how its file reads tables."""
    if given is None and not options and isinstance(getattr(release, "policy", None), Policy):
        return release.policy, {}
    if isinstance(given, Policy):
        if options:
            raise PolicyError(f"a policy is given, so '{next(iter(options))}' would have no effect; leave one out")
        return given, {}
    words, reading = ({}, {}) if given is None else read_policy(given)
    return attackers_policy({**words, **options}), reading


def attackers_policy(words: Mapping[str, Any]) -> Policy:
    """A policy from its words; without a k, being alone is what nobody should be."""
    if "quasi_identifiers" not in words:
        raise PolicyError("say what an attacker may know: give a policy, or quasi_identifiers")
    return make_policy(**{**words, "k": words.get("k") or 2})


def _opened(release: Any, original: Any, reading: dict[str, Any]) -> tuple[Source, Source]:
    if hasattr(release, "rows_with_owners"):
        return open_source(release.rows), release.original if original is None else open_source(original, **reading)
    if original is None:
        raise PolicyError("successes are counted against the original table; give it as original")
    source = open_as_release(release, reading) if isinstance(release, str | Path) else open_source(release)
    return source, open_source(original, **reading)
