"""The whole pipeline.

    read -> encode -> compress -> search -> recode -> write -> read back -> verify -> publish

`draft` is its first half, `publish` its second; every face, comparison and attack goes through these functions.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from incrowd.engines.engine import Engine, Observer
from incrowd.engines.plan import ReleasePlan
from incrowd.engines.reading import compressed, missing_values, read_table, released_classes
from incrowd.engines.registry import engine_for, engine_of
from incrowd.errors import InfeasibleError, PolicyError, many
from incrowd.formats.atomic_files import AtomicFiles
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import Look, look_at
from incrowd.key import Key
from incrowd.ledger.beside import beside_warning, check_known, earlier_beside
from incrowd.ledger.outgoing import ledger_of
from incrowd.policy.differential_privacy import check_differential
from incrowd.policy.policy import Policy
from incrowd.population.table import with_population
from incrowd.privacy.feasibility import check_feasible, check_harmless
from incrowd.release.files import ReleaseFiles
from incrowd.release.notes import notes_of
from incrowd.release.sidecars import sidecars_of
from incrowd.run import Run
from incrowd.search.forms import searched_in_form
from incrowd.search.limits import check_within
from incrowd.search.method import SearchResult
from incrowd.search.registry import method_of
from incrowd.settled import Settled, settle
from incrowd.table.compressed import CompressedTable
from incrowd.table.out_of_core import OutOfCoreTable
from incrowd.verification.certificate import Certificate
from incrowd.verification.promises import witness_of

if TYPE_CHECKING:
    from incrowd.release.release import Release
    from incrowd.report.files import Reports
    from incrowd.verification.witness import Verdict

Table = CompressedTable | OutOfCoreTable
Given = TypeVar("Given")


@dataclass(frozen=True)
class Draft:
    """What the first half gives: all is decided, and no row has left.

    Args:
        settled: What was asked, and what was decided for this table.
        found: What the search gave: the recoding, steps and facts.
        notes: What a user should know.
        key: What was drawn at random came from it; with it, the same rows and policy give this very release again.
        look: What the columns that leave as they are look like; None if nobody has looked yet.
    """

    settled: Settled
    source: Source = field(repr=False)
    table: CompressedTable = field(repr=False)
    found: SearchResult = field(repr=False)
    notes: tuple[str, ...] = ()
    engine: Engine = field(default_factory=engine_of, repr=False)
    key: Key | None = field(default=None, repr=False)
    look: Look | None = field(default=None, repr=False)


def draft(
    source: Source,
    policy: Policy,
    run: Run,
    *,
    engine: Engine | None = None,
    table: Table | None = None,
    look: Look | None = None,
) -> Draft:
    """Read, encode, compress and search; `table` and `look` where that was done before, or nobody gets the rows.

    Raises:
        NamesPeopleError: A column that would leave as it is may name people; nothing was searched.
    """
    engine = engine or engine_for(policy, source)
    settled = settle(policy, source)
    policy = settled.policy
    # refuses before anything is read
    method_of(policy.method, policy.options, len(policy.quasi_identifiers), policy.models_of_table)
    if look is None:
        look = look_at(source, policy, run).require(policy.keep, source.name)
    if settled.earlier is not None:
        source = settled.earlier.visible
    if table is None:
        table, settled = read(engine, source, settled, run)
    else:
        settled = settled.having_read(table)
    found, settled = searched_or_unpromised(table, settled, source, run)
    notes = notes_of(settled, table, found, run, engine.name)
    if isinstance(table, OutOfCoreTable):
        table = released_classes(table, found.recoding)
    return Draft(settled.after(found), source, table, found, notes, engine, run.key, look)


def read(engine: Engine, source: Source, settled: Settled, run: Run) -> tuple[Table, Settled]:
    """The rows as codes and counts, with what is known besides them, and what their values decide."""
    run.stage("reading")
    if (earlier := settled.earlier) is not None:
        table = read_table(engine, earlier.rows, settled.policy, run, earlier.counted)
    else:
        table = read_table(engine, source, settled.policy, run)
    if earlier is not None or isinstance(table, OutOfCoreTable):
        return table, settled.having_read(table)
    return with_side_knowledge(engine, table, settled, run)


def with_side_knowledge(
    engine: Engine, table: CompressedTable, settled: Settled, run: Run
) -> tuple[CompressedTable, Settled]:
    """The one door by which what others may know besides the release gets to a search: now a population."""
    settled = settled.having_read(table)
    table = without_unpromised(table, settled)
    if settled.population is not None:
        table = with_population(table, settled.policy, partial(compressed, engine), run)
    return table, settled


def without_unpromised(table: CompressedTable, settled: Settled) -> CompressedTable:
    """The table without the values of columns about which nothing is promised after all."""
    bare = {*settled.asked.sensitive} - {*settled.policy.secrets}
    return replace(table, protected={name: each for name, each in table.protected.items() if name not in bare})


def searched_or_unpromised(
    table: Table, settled: Settled, source: Source | None, run: Run
) -> tuple[SearchResult, Settled]:
    """What a method finds; where it cannot keep a promise that nobody asked for, without that."""
    try:
        return search(table, settled, source, run), settled
    except (PolicyError, InfeasibleError):
        if not settled.promised or isinstance(table, OutOfCoreTable):
            raise
    settled = replace(settled, promised=())
    return search(without_unpromised(table, settled), settled, source, run), settled


def search(table: Table, settled: Settled, source: Source | None, run: Run) -> SearchResult:
    """What a method finds, with what the policy says of missing values and of columns to drop."""
    policy = settled.policy
    method = method_of(policy.method, policy.options, len(policy.quasi_identifiers), policy.models_of_table)
    check_harmless(table, policy.models_of_columns, policy.missing_values)
    requirements = tuple(requirement.fitted(table.protected) for requirement in settled.requirements)
    check_feasible(table, requirements)
    run.stage("searching")
    found = searched_in_form(method, table, requirements, policy.options, run, policy.secrets, policy.form)
    recoding = replace(
        found.recoding,
        dropped=policy.dropped,
        missing=policy.missing,
        missing_values=policy.missing_values if source is None else missing_values(source, policy),
        missing_label=policy.missing_values[0] if policy.missing_values else None,
    )
    return replace(found, recoding=recoding)


def verified(
    release: Release, hand_out: Callable[[Observer, ReleasePlan], Given], *, is_training_data: bool = False
) -> tuple[Given, Verdict]:
    """Recode rows and hand them out under the eyes of a witness, who counts them; no row leaves in another way.

    Raises:
        InfeasibleError: A column is more general than the policy allows, as at an early step of a search.
        PolicyError: The rows would say more than the differential privacy that they promise allows.
        NotAnonymousError: The rows failed the recount.
    """
    check_differential(release.settled.asked, release.original.columns)
    check_within(release.table, release.recoding)
    witness = witness_of(release.policy)
    hidden = tuple(name for name in witness.columns if name in release.recoding.dropped)  # seen, but not released
    plan = ReleasePlan(tuple(witness.columns), hidden, is_training_data, release.policy.keep_order)
    given = hand_out(witness.see, plan)
    if release.settled.population is not None:
        witness.see_population(*release.released_population)
    return given, witness.verdict().require()


def publish(
    release: Release,
    path: str | Path,
    *,
    overwrite: bool,
    sidecars: bool,
    confidential: bool,
    reports: Reports | None,
    run: Run,
    before: Callable[[], object] | None,
) -> Certificate:
    """Recode, write, read back, verify, and let all files appear together; see `Release.write`."""
    run.anytime = True  # there is a release: a time limit no longer ends it
    source, engine, _ = release.original, release.engine, release.checked
    run.stage("writing")
    place = engine.output(path, overwrite=overwrite)
    paths = ReleaseFiles.of(path if place is None else place.beside)
    paths.check(source, overwrite=overwrite, sidecars=sidecars, rows=place is None)
    if reports is not None:
        reports.check(source, paths, overwrite=overwrite)
    with (
        paths.private_folder(needed=sidecars),
        ledger_of(release) as ledger,
        AtomicFiles(overwrite=overwrite) as files,
        ThreadPoolExecutor(1) as pool,
        run.cancelling(),
    ):
        original = pool.submit(source.fingerprint, run.check)  # while the rows are written
        counted = run.submit(lambda: release.measures) if sidecars and release.steps else None
        target = files.open(path) if place is None else files.join(place)
        rows, recoding = release.outgoing
        digest, verdict = verified(  # `Engine.write` reads back what it wrote, and shows that to the witness
            release,
            lambda see, plan: engine.write(rows, recoding, target, see, run, plan),
            is_training_data=True,
        )
        certificate = release.certified(verdict, original.result(), digest)
        if ledger is not None:
            check_known(paths.confidential.parent, ledger.ledger)
            ledger.enter(certificate, files)
        if counted is not None:
            counted()
        contents = sidecars_of(release, paths, certificate, confidential=confidential) if sidecars else {}
        for place_of, text in contents.items():
            paths.open(files, place_of).write_text(text, encoding="utf-8")
        if reports is not None:
            reports.write(release, certificate, files, paths)
        paths.remove_others(files, [*contents, *([] if reports is None else reports.written(paths))])
        if contents:
            files.check(paths.check_own)
        if before is not None:
            before()
    is_first = release.settled.earlier is None or release.settled.earlier.number == 1  # or the ledger was lost
    if is_first and sidecars and (others := earlier_beside(paths.confidential, certificate)):
        run.note(beside_warning(others))
    if (sent := release.sent) is not None and sent.waiting:
        run.note(f"{many(sent.new.num_rows, 'row')} are new, {many(len(sent.waiting), 'newcomer')} wait for a crowd")
    return certificate
