"""What a steward should know of a release besides its figures: values that may be misread, and how the search ended."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incrowd.errors import many
from incrowd.policy.policy import Policy
from incrowd.run import Run
from incrowd.search.method import SearchResult
from incrowd.settled import Settled
from incrowd.table.arrays import text_array
from incrowd.table.compressed import CompressedTable
from incrowd.table.out_of_core import OutOfCoreTable
from incrowd.table.scales import has_commas
from incrowd.table.target_bins import lower_bounds
from incrowd.verification.guarantee import Guarantee

KEPT_ORDER = (
    "rows keep their order: whoever knows how the original table was sorted can tell more of a person than the "
    "released values say"
)
NO_BOUND = (
    "no bound was proven: there is none where records may be left out, columns have priorities or a target is the "
    "objective, nor where it would take too long"
)
NOT_RANDOM = (
    "those who are left out are the ones who are alone, so the rest is no random sample and the estimate of population "
    "uniqueness is too low; leave out nobody (suppress 0), or promise sample uniqueness as well"
)


def notes_of(
    settled: Settled, table: CompressedTable | OutOfCoreTable, found: SearchResult, run: Run, engine: str
) -> tuple[str, ...]:
    policy = settled.policy
    notes = [f"dropped the quasi-identifier {qid}, because another one implies it" for qid in settled.left_out]
    notes += () if settled.earlier is None else settled.earlier.notes
    notes += settled.notes()
    notes += reading_notes(table, policy)
    if table.incomplete:
        dropped = many(table.incomplete, "record was", "records were")
        notes.append(f"{dropped} dropped for lack of a value, which the losses do not count")
    notes += _of_search(policy, found, table, engine)
    if bins := len(lower_bounds(table.labels)):
        notes.append(f"the target '{policy.target}' has many numbers; they count as {bins} ranges of about equal size")
    if early := found.facts.get("stopped") if run.ended_early else None:
        notes.append(f"the search was stopped early ({early}); the release is the best one found by then")
    if policy.options.get("proof") == "bound" and "bound" not in found.facts:
        notes.append(NO_BOUND)
    if guarantee := Guarantee.of(found.facts, min(qid.k for qid in policy.quasi_identifiers)):
        notes += [guarantee.promise(", ".join(f"'{name}'" for name in policy.keep)), guarantee.limits]
    if policy.keep_order:
        notes.append(KEPT_ORDER)
    if "population_uniqueness" in policy.risks and found.facts.get("suppressed_records"):
        notes.append(NOT_RANDOM)
    return tuple(notes)


def _of_search(
    policy: Policy, found: SearchResult, table: CompressedTable | OutOfCoreTable, engine: str
) -> Iterator[str]:
    if more := found.facts.get("left_out_by_the_key"):
        secrets = ", ".join(f"'{name}'" for name in policy.secrets)
        records = many(more, "record was", "records were")
        yield f"{records} left out by chance as well, so that being left out does not tell {secrets}"
    if chosen := found.facts.get("method"):
        yield f"the method is {chosen}: {found.facts['why']}"
    if isinstance(table, OutOfCoreTable):
        yield f"{table.tuples:,} distinct combinations stayed in the engine '{engine}'"


def reading_notes(table: CompressedTable | OutOfCoreTable, policy: Policy) -> list[str]:
    """What to say of values that may have been meant in another way than they were read."""
    notes = missing_notes(table, policy)
    for attribute in table.attributes:
        if attribute.name not in policy.types and _look_like_commas(attribute.texts):
            notes.append(
                f"column '{attribute.name}' counts as text; if its commas are decimal commas, declare its type as "
                f"comma (--type '{attribute.name}=comma', in Python types)"
            )
    counted = {name: histogram.values for name, histogram in table.protected.items() if name != policy.unit}
    for name, values in {**counted, **({policy.target: table.labels} if policy.target else {})}.items():
        if name not in policy.types and _look_like_commas(values):
            notes.append(
                f"column '{name}' counts as text, each value for itself; if its commas are decimal commas, declare its "
                f"type as comma (--type '{name}=comma', in Python types)"
            )
    return notes


def _look_like_commas(values: Sequence[str | None]) -> bool:
    """Whether all values of a column could be numbers with a decimal comma; they stand in order."""
    texts = [value for value in values if value]
    begins = texts[0].lstrip("+-")[:1] if texts else ""
    return begins.isdigit() and has_commas(text_array(texts), "number", expected=True, surely=False)


def missing_notes(table: CompressedTable | OutOfCoreTable, policy: Policy) -> list[str]:
    """What to say of missing values that the user named and that were not found as they were written."""
    named = [text for text in policy.missing_values if text]
    notes: list[str] = []
    for attribute in table.attributes:
        for text in attribute.texts:
            if text not in named and text.strip() in named:
                notes.append(
                    f"column '{attribute.name}' has '{text}', which is not the missing value '{text.strip()}'; strip "
                    "blanks (--strip, in Python strip=True), or name it as well"
                )
    found = any(None in histogram.values for histogram in table.protected.values())
    if not notes and named and not found and all(attribute.missing is None for attribute in table.attributes):
        told, it = ", ".join(f"'{text}'" for text in named), "it is" if len(named) == 1 else "they are"
        value = "missing value" if len(named) == 1 else "missing values"
        notes.append(f"no quasi-identifier has the {value} {told}; check how {it} written in the table")
    return notes
