"""All risks of a table, alone or before and after a release: what is asked (`Question`), and what comes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Unpack

import pyarrow as pa

from incrowd.display import Tabular
from incrowd.errors import PolicyError, UnknownNameError
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.registry import open_source
from incrowd.population.estimates import Outside, outside
from incrowd.population.records import People, read_people
from incrowd.population.table import GIVEN, Everyone, Matches, counted_population
from incrowd.population.uniqueness import Estimate, Sample, population_uniques
from incrowd.risk.attackers import (
    Attacker,
    Homogeneity,
    SampleUniques,
    crowd_of,
    homogeneity,
    journalist,
    marketer,
    match_is_right,
    prosecutor,
    sample_uniques,
)
from incrowd.risk.safe_harbour import SafeHarbour, Suspicion
from incrowd.risk.suda import SpecialUniques, special_uniques
from incrowd.risk.wording import highest, notes, rows
from incrowd.run import Run

if TYPE_CHECKING:
    from incrowd.formats.sources import Source
    from incrowd.policy.policy import Policy
    from incrowd.population.table import Everyone
    from incrowd.run import Watch


THRESHOLD = 0.2  # a crowd of five, the usual limit for data that are not public


@dataclass(frozen=True)
class Question:
    """What is asked of a table; checked once, with `Question.of`.

    Args:
        attributes: The columns of the quasi-identifier.
        threshold: A risk above it is too high.
        sensitive: Columns that tell what nobody should learn.
        fraction: The share of the population that is in the table, if that is known.
        weights: The column with survey weights, if there is one.
        max_size: The largest sets of columns that are searched for special uniques.
        population_table: A table of everyone that the records were drawn from, if there is one.
        recoding: What the values of that table are recoded by, or its file, if the records are those of a release.
        unit: The column that says whose record it is, where one person may have several.
    """

    attributes: tuple[str, ...]
    threshold: Fraction
    sensitive: tuple[str, ...] = ()
    fraction: Fraction | None = None
    weights: str | None = None
    max_size: int | None = None
    population_table: Source | None = None
    recoding: Any = None
    unit: str | None = None

    @classmethod
    def of(
        cls,
        quasi_identifiers: Iterable[str],
        *,
        threshold: float | str | Fraction = THRESHOLD,
        sensitive: Iterable[str] = (),
        sampling_fraction: float | None = None,
        weights: str | None = None,
        max_size: int | None = None,
        population_table: Any = None,
        recoding: Any = None,
        unit: str | None = None,
    ) -> Question:
        """The question in a user's words.

        Raises:
            PolicyError: It contradicts itself.
        """
        if sampling_fraction is not None and weights is not None:
            raise PolicyError("weights say what the sampling fraction is; give one of them, not both")
        if unit is not None and weights is not None:
            raise PolicyError("weights are those of records, and a unit counts people; give one of them, not both")
        if population_table is not None and (sampling_fraction is not None or weights is not None):
            raise PolicyError("a population says how many people match; leave out weights and the sampling fraction")
        if recoding is not None and population_table is None:
            raise PolicyError("a recoding says what a population would be released as; give the population as well")
        if max_size is not None and (isinstance(max_size, bool) or not isinstance(max_size, int) or max_size < 1):
            raise PolicyError(f"The 'max_size' parameter must be an int of at least 1. Got {max_size!r}.")
        question = cls(
            _columns("quasi_identifiers", quasi_identifiers),
            _share("threshold", threshold),
            _columns("sensitive", sensitive),
            None if sampling_fraction is None else _share("sampling_fraction", sampling_fraction),
            weights,
            max_size,
            None if population_table is None else open_source(population_table),
            recoding,
            unit,
        )
        if not question.attributes:
            raise PolicyError("The 'quasi_identifiers' parameter must be at least one column. Got none.")
        for name in question.attributes:
            if name in (*question.sensitive, weights, unit):
                role = "the unit" if name == unit else "a weight" if name == weights else "sensitive"
                raise PolicyError(f"column '{name}' cannot be both a quasi-identifier and {role}; choose one")
        return question

    @property
    def crowd(self) -> int:
        """The crowd size of the threshold: the risk in smaller crowds is above it."""
        return crowd_of(self.threshold)

    def check_columns(self, columns: Sequence[str], where: str) -> None:
        """Every column must exist."""
        for name in (*self.attributes, *self.sensitive, *(each for each in (self.weights, self.unit) if each)):
            if name not in columns:
                raise UnknownNameError("column", name, columns, where)


@dataclass(frozen=True, repr=False)
class Risk(Tabular):
    """What an attacker could do with a table.

    Args:
        question: What was asked.
        records: Records of the table; with a unit people, and so in all that follows. A person counts once, with the
            worst of her classes.
        classes: Classes: groups of records that are equal on the quasi-identifier.
        smallest_class: Records of the smallest one.
        prosecutor: An attacker who knows that the target is in the table.
        journalist: One who does not; None where the population is not known.
        marketer: The share of right links if everybody is linked.
        uniques: Records that are alone in the table.
        special: By how few columns they are.
        homogeneity: What crowds give away, by sensitive column.
        population: People that the table was drawn from; None where that is not known.
        population_uniques: How many of them are alone, by estimator, the one to prefer first.
        match_is_right: How likely a match with a record that is alone is right, if the population is known.
        safe_harbour: Columns that may hold an identifier of the HIPAA safe-harbour list.
    """

    question: Question
    records: int
    classes: int
    smallest_class: int
    prosecutor: Attacker
    journalist: Attacker | None
    marketer: Fraction
    uniques: SampleUniques
    special: SpecialUniques
    homogeneity: tuple[Homogeneity, ...]
    population: Fraction | None
    population_uniques: tuple[Estimate, ...]
    match_is_right: Fraction | None
    safe_harbour: tuple[Suspicion, ...]

    def to_rows(self) -> list[dict[str, Any]]:
        """The figures as they are told, a row each."""
        return [{"measure": title, "found": text} for title, text in rows(self).items()]

    def headline(self) -> str:
        return f"risk on {', '.join(self.question.attributes)}: {highest(self)}"

    def remarks(self) -> list[str]:
        return notes(self)

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data; risks are shares between 0 and 1."""
        question = self.question
        return {
            "incrowd": "risk",
            "quasi_identifier": list(question.attributes),
            "unit": question.unit,
            "threshold": float(question.threshold),
            "threshold_crowd": question.crowd,
            "records": self.records,
            "classes": self.classes,
            "smallest_class": self.smallest_class,
            "prosecutor": self.prosecutor.to_json(),
            "journalist": None if self.journalist is None else self.journalist.to_json(),
            "marketer": float(self.marketer),
            "sample_uniques": self.uniques.to_json(),
            "special_uniques": self.special.to_json(),
            "homogeneity": [each.to_json() for each in self.homogeneity],
            "population": None if self.population is None else float(self.population),
            "population_uniques": [each.to_json() for each in self.population_uniques],
            "match_is_right": None if self.match_is_right is None else float(self.match_is_right),
            "safe_harbour": [each.to_json() for each in self.safe_harbour],
        }


def assess(
    data: Any,
    *,
    quasi_identifiers: Iterable[str],
    unit: str | None = None,
    threshold: float | str | Fraction = THRESHOLD,
    sensitive: Iterable[str] = (),
    sampling_fraction: float | None = None,
    weights: str | None = None,
    max_size: int | None = None,
    population_table: Any = None,
    recoding: Any = None,
    progress: Watch | None = None,
    **reading: Unpack[ReaderOptions],
) -> Risk:
    """Tell what an attacker could do with a table, before or after a release.

    Args:
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        quasi_identifiers: The columns that an attacker may know of people.
        unit: The column that says whose record it is, where one person has several: crowds are counted in people.
        threshold: Records with a higher risk are counted; 0.2 flags crowds smaller than five. For a crowd of eleven
            write "1/11": 0.09 is less than that, and flags crowds of eleven, too.
        sensitive: Columns that tell what nobody should learn.
        sampling_fraction: The share of the population that is in the table, above 0 and at most 1.
        weights: The column that says for how many people of the population a record stands.
        max_size: The largest sets of columns that are searched for special uniques; as large as a fixed amount of work
            allows if None.
        population_table: A table of everyone that the records were drawn from: who could be meant is counted then, and
            not estimated.
        recoding: The recoding of a global method, or its file, if the table is a release: people of the population are
            counted by what they would be released as.
        progress: Called with every event of the run.
        **reading: How to read a file or a database; see `ReaderOptions`.

    Raises:
        PolicyError: What was asked contradicts itself or names unknown columns.
        DataError: The table cannot be read.
        PolicyError: Its weights cannot be used.

    Example:
        >>> import incrowd, pyarrow
        >>> people = pyarrow.table({"age": [30, 30, 40], "sex": ["f", "f", "m"]})
        >>> risk = incrowd.assess(people, quasi_identifiers=["age", "sex"])
        >>> risk.uniques.records, str(risk.prosecutor.average)
        (1, '2/3')
    """
    question = Question.of(
        quasi_identifiers,
        threshold=threshold,
        sensitive=sensitive,
        sampling_fraction=sampling_fraction,
        weights=weights,
        max_size=max_size,
        population_table=population_table,
        recoding=recoding,
        unit=unit,
    )
    source = open_source(data, **reading)
    return risk_of(source, question, Run(progress))


def risk_of(
    source: Source, question: Question, run: Run, everyone: Everyone | None = None, *, unreleased: Sequence[str] = ()
) -> Risk:
    """The risk of an open table.

    Args:
        source: The table.
        question: What is asked.
        run: Told of rows.
        everyone: The population as the table is written; if None, the one of the question, if it has one.
        unreleased: Columns to count by that an attacker does not get to see.
    """
    question.check_columns(source.columns, source.name)
    run.stage("reading")
    columns = SafeHarbour()

    def batches() -> Iterator[pa.RecordBatch]:
        for batch in source.batches(None, encoded=source.columns):
            columns.see(batch.drop_columns(list(unreleased)))
            yield batch

    people = read_people(
        batches(),
        source.name,
        question.attributes,
        sensitive=question.sensitive,
        weights=question.weights,
        unit=question.unit,
        missing_values=source.missing_values,
        run=run,
    )
    source.check_unchanged()
    if everyone is None and question.population_table is not None:
        run.stage("reading the population")
        counted = counted_population(question.population_table, question.attributes, question.recoding, run)
        everyone = Everyone(*counted, question.population_table.name)
    matches = None if everyone is None else Matches.of(people, everyone)
    run.stage("searching special uniques")
    return _risk(people, matches, question, columns.findings(), run)


def _risk(
    people: People, matches: Matches | None, question: Question, safe_harbour: tuple[Suspicion, ...], run: Run
) -> Risk:
    sizes = people.sizes
    uniques = sample_uniques(people)
    known = _known(people, matches, question)
    population = people.population
    if question.fraction is not None:
        population = people.number / question.fraction
    estimates: tuple[Estimate, ...] = ()
    right = None
    if matches is not None:
        population, estimates, right = Fraction(matches.population), (matches.alone(sizes),), matches.right(sizes)
    elif population is not None:
        apart = people.memberships == people.number
        estimates = population_uniques(Sample.of(sizes, max(people.number, round(population))), apart=apart)
        right = match_is_right(uniques, people.number / population)
    return Risk(
        question=question,
        records=people.number,
        classes=len(sizes),
        smallest_class=int(sizes.min()),
        prosecutor=prosecutor(people, question.threshold),
        journalist=None if known is None else journalist(people, known, question.threshold),
        marketer=marketer(people, known),
        uniques=uniques,
        special=special_uniques(people, run, question.max_size),
        homogeneity=homogeneity(people),
        population=population,
        population_uniques=estimates,
        match_is_right=right,
        safe_harbour=safe_harbour,
    )


def _known(people: People, matches: Matches | None, question: Question) -> Outside | None:
    """The classes in the population, as they are counted there or estimated; None where it is not known."""
    if matches is None:
        return outside(people, question.fraction, question.crowd)
    return Outside.counted(matches.people, question.crowd, GIVEN)


def _columns(word: str, given: Iterable[str]) -> tuple[str, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if not all(isinstance(name, str) for name in names):
        raise PolicyError(f"The '{word}' parameter must be names of columns. Got {names!r}.")
    return tuple(dict.fromkeys(names))


def _share(word: str, given: Any) -> Fraction:
    """A share as it was written: 0.2 is two tenths, not the double next to it."""
    try:
        share = None if isinstance(given, bool) else Fraction(str(given))
    except (ValueError, ZeroDivisionError):
        share = None
    if share is None or not 0 < share <= 1:
        raise PolicyError(f"The '{word}' parameter must be a number above 0 and at most 1. Got {given!r}.")
    return share


@dataclass(frozen=True, repr=False)
class BeforeAndAfter(Tabular):
    """The risk of a table and of its release, on one quasi-identifier."""

    before: Risk
    after: Risk

    def to_rows(self) -> list[dict[str, Any]]:
        before, after = rows(self.before), rows(self.after)
        return [
            {"measure": title, "before": before.get(title), "after": after.get(title)}
            for title in dict.fromkeys((*before, *after))
        ]

    def headline(self) -> str:
        on = ", ".join(self.before.question.attributes)
        return f"risk on {on}: {highest(self.before)} before, {highest(self.after)} after"

    def remarks(self) -> list[str]:
        return [f"after: {note}" for note in notes(self.after)]

    def to_json(self) -> dict[str, Any]:
        return {"before": self.before.to_json(), "after": self.after.to_json()}


@dataclass(frozen=True, repr=False)
class ReleaseRisk(Tabular):
    """The risk before and after a release, on each of its quasi-identifiers."""

    quasi_identifiers: tuple[BeforeAndAfter, ...]

    @property
    def worst(self) -> BeforeAndAfter:
        """On the quasi-identifier with the highest risk after the release; the first of several."""
        return max(self.quasi_identifiers, key=lambda pair: pair.after.prosecutor.highest)

    @property
    def before(self) -> Risk:
        return self.worst.before

    @property
    def after(self) -> Risk:
        return self.worst.after

    def to_rows(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        for pair in self.quasi_identifiers:
            names = ", ".join(pair.before.question.attributes)
            found += [{"quasi_identifier": names, **row} for row in pair.to_rows()]
        return found

    def headline(self) -> str:
        return self.worst.headline()

    def remarks(self) -> list[str]:
        return [f"after: {note}" for note in notes(self.after)]

    def to_json(self) -> dict[str, Any]:
        return {"incrowd": "risk of a release", "quasi_identifiers": [q.to_json() for q in self.quasi_identifiers]}


def release_risk(source: Source, released: Source, policy: Policy, everyone: Everyone | None) -> ReleaseRisk:
    """The risk before and after a release, on each of its quasi-identifiers.

    Args:
        source: The table.
        released: Its release; with the unit of each row, if the policy has one.
        policy: What was asked for; has the population, if there is one.
        everyone: What people of that population would be released as.
    """
    pairs = []
    for qid in policy.quasi_identifiers:
        question = Question.of(qid.attributes, sensitive=policy.sensitive, unit=policy.unit)
        question = replace(question, population_table=policy.population_table)
        after = risk_of(released, question, Run(), everyone, unreleased=[policy.unit] if policy.unit else ())
        pairs.append(BeforeAndAfter(risk_of(source, question, Run()), after))
    return ReleaseRisk(tuple(pairs))
