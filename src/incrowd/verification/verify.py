"""`verify`: what the witness counts in any table, released by incrowd or not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from incrowd.display import watching
from incrowd.errors import PolicyError, UnknownNameError, many
from incrowd.formats.reader_options import take_reader_options
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import comma_types
from incrowd.policy.making import make_policy, quasi_identifiers_of
from incrowd.policy.options import PROMISED
from incrowd.policy.policy import Policy, QuasiIdentifier
from incrowd.population.table import counted_population, open_population
from incrowd.run import Run
from incrowd.settled import Settled
from incrowd.verification.promises import witness_of, witness_of_everything
from incrowd.verification.verdict import Verification

if TYPE_CHECKING:
    from incrowd.run import Watch
    from incrowd.verification.witness import Witness


def verify(
    data: Any,
    *,
    quasi_identifiers: Iterable[str | QuasiIdentifier | Iterable[str] | Mapping[str, Any]],
    k: int | None = None,
    unit: str | None = None,
    sensitive: Iterable[str] | Mapping[str, Mapping[str, Any]] = (),
    taxonomies: Any = None,
    progress: Watch | bool | None = None,
    **options: Any,
) -> Verification:
    """Count how well the crowds in any table protect.

    Args:
        data: Path of a file, a pandas, polars or pyarrow table, or anything with the Arrow stream interface.
        quasi_identifiers: As in `anonymize`.
        k: As in `anonymize`. Without a k and without a promise about a sensitive column, what holds is reported.
        unit: As in `anonymize`, if the column is in the table.
        sensitive: As in `anonymize`.
        taxonomies: As in `anonymize`, for distances between sensitive values.
        progress: As in `anonymize`.
        **options: How to read a file or a database, see `ReaderOptions`. Promises about the sensitive columns, such as
            `l` and `t`, or `privacy`, a list of models. Also `population_table` with `k_map` and `delta_presence` as
            in `anonymize`, and `recoding`, the recoding of a global method or its file, which says what people of the
            population would be released as; without it their values must be written as in the table. `missing_values`
            and `types` as in `anonymize`, for sensitive columns.

    Returns:
        What was counted. `holds` says whether it is enough, `require()` raises NotAnonymousError if it is not.

    Example:
        >>> import incrowd, pyarrow
        >>> people = pyarrow.table({"age": [30, 30, 40, 40], "sex": ["f", "f", "m", "m"]})
        >>> incrowd.verify(people, quasi_identifiers=["age", "sex"], k=2).holds
        True
    """
    source = open_source(data, **take_reader_options(options))
    settings = {"quasi_identifiers": quasi_identifiers, "k": k, "unit": unit, "sensitive": sensitive}
    with watching(progress) as watch:
        return verification_of(source, {**settings, "taxonomies": taxonomies, **options}, Run(watch))


_ASKED = ("quasi_identifiers", "k", "privacy", "unit", "sensitive", "taxonomies")
_READ = ("missing_values", "types")  # how the values of sensitive columns are meant


def verification_of(source: Source, settings: Mapping[str, Any], run: Run) -> Verification:
    """What a witness finds of what was asked for, or where nothing was asked for, of everything it can count."""
    settings = dict(settings)
    recoding = settings.pop("recoding", None)
    for name in settings:
        if name not in (known := (*_ASKED, *PROMISED, *_READ)):
            raise UnknownNameError("parameter", name, known, "verify")
    asked = any(settings.get(name) is not None for name in ("k", "privacy", *PROMISED))
    own = quasi_identifiers_of(settings["quasi_identifiers"], settings.get("k") or 1)
    asked = asked or isinstance(settings.get("sensitive"), Mapping) or any(qid.k > 1 for qid in own)
    policy = make_policy(**{**settings, **({} if asked else {"k": 2})})
    policy.check_columns(source.columns, source.name)
    if recoding is not None and policy.population_table is None:
        raise PolicyError("a recoding says what a population would be released as; give population_table as well")
    policy = Settled(policy, types=comma_types(policy, source), population=open_population(policy)).policy
    if policy.population_table is not None:
        return recount_in_population(source, policy, recoding, run)
    if asked:
        return recount(source, witness_of(policy), run)
    return recount(source, witness_of_everything(policy), run).without_thresholds()


def recount(source: Source, witness: Witness, run: Run | None = None) -> Verification:
    run = run or Run()
    for batch in source.batches(witness.columns, encoded=witness.columns):
        witness.see(batch)
        run.rows(len(batch))
    return Verification.of(witness.verdict())


def recount_in_population(source: Source, policy: Policy, recoding: Any, run: Run) -> Verification:
    """What a witness finds in released rows and in the population that they were drawn from.

    Without a recoding, people are written as the rows are.

    Raises:
        PolicyError: The population does not contain the table.
    """
    assert policy.population_table is not None
    witness = witness_of(policy)
    witness.see_population(*counted_population(policy.population_table, policy.attributes, recoding, run))
    verification = recount(source, witness, run)
    if lacking := witness.outside_population():
        raise PolicyError(
            f"the population {policy.population_table.name} does not contain the table: {many(lacking, 'record')} of "
            f"{source.name} {'is' if lacking == 1 else 'are'} not in it; give one with everyone, whose values are "
            "written alike, or the recoding of the release"
        )
    return verification
