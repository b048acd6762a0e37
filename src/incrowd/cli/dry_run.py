"""What `incrowd anonymize --dry-run` says: the role of each column, how it would be generalized, by which method."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_for
from incrowd.errors import many
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import look_at, with_comma_types
from incrowd.policy.policy import Policy
from incrowd.population.table import with_open_population
from incrowd.privacy.feasibility import check_feasible
from incrowd.release.files import ReleaseFiles
from incrowd.release.notes import reading_notes
from incrowd.run import Run
from incrowd.search.automatic.automatic import choices
from incrowd.search.registry import METHODS, method_of
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute


@dataclass(frozen=True)
class PlannedColumn:
    """What would be done with a column."""

    name: str
    role: str
    values: int | None
    treatment: str


@dataclass(frozen=True)
class Plan:
    """What would be done.

    Args:
        policy: The policy.
        records: Records of the table.
        tuples: Distinct combinations of quasi-identifier values.
        columns: What would be done with each column.
        methods: The method, or those that would be tried for the better one.
        why: What the method is, or why it was chosen.
        files: What would be written, by what it is.
        notes: What a user should know.
    """

    policy: Policy
    records: int
    tuples: int
    columns: tuple[PlannedColumn, ...]
    methods: tuple[str, ...]
    why: str
    files: Mapping[str, Path]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "policy": self.policy.to_json(),
            "records": self.records,
            "tuples": self.tuples,
            "methods": list(self.methods),
            "why": self.why,
            "columns": [asdict(column) for column in self.columns],
            "notes": list(self.notes),
            "files": {name: str(path) for name, path in self.files.items()},
        }


def plan_of(source: Source, policy: Policy, files: ReleaseFiles, run: Run) -> Plan:
    """Check the policy, read the table, and say what would be done.

    Raises:
        PolicyError: The policy contradicts itself or the table.
        DataError: The table cannot be used.
        InfeasibleError: No release can satisfy the policy.
    """
    policy.check_columns(source.columns, source.name)
    policy, _ = with_open_population(policy).without_redundant()
    policy = with_comma_types(policy, source)
    method = method_of(policy.method, policy.options, len(policy.quasi_identifiers))
    look_at(source, policy, run).require(policy.keep, source.name)
    run.stage("reading")
    table = compressed(engine_for(policy, source), source, policy, run)
    requirements = tuple(requirement.fitted(table.protected) for requirement in policy.requirements)
    check_feasible(table, requirements)
    attributes = {attribute.name: attribute for attribute in table.attributes}
    columns = tuple(_column(name, policy, attributes.get(name)) for name in source.columns)
    tried, why = choices(table, requirements) if policy.method == "auto" else ((policy.method,), method.about)
    written = {"release": files.release, "certificate": files.certificate, "confidential": files.confidential}
    if not any(METHODS[name].local for name in tried):
        written |= {"recoding": files.recoding}
    notes = tuple(reading_notes(table, policy))
    return Plan(policy, table.records, len(table.counts), columns, tried, why, written, notes)


def _column(name: str, policy: Policy, attribute: Attribute | None) -> PlannedColumn:
    if attribute is not None:
        return PlannedColumn(name, "quasi-identifier", attribute.size, _generalized(attribute))
    if name in policy.identifiers:
        return PlannedColumn(name, "identifier", None, "dropped")
    roles = {"target": (policy.target,), "sensitive": policy.sensitive, "insensitive": policy.insensitive}
    roles |= {"kept on purpose": policy.keep}
    role = next((role for role, names in roles.items() if name in names), "none")
    return PlannedColumn(name, role, None, "kept as it is" if role != "none" else "passes through untouched")


def _generalized(attribute: Attribute) -> str:
    if isinstance(attribute, TaxonomyAttribute):
        depth = f"{attribute.taxonomy.height} levels" if attribute.taxonomy.height > 1 else "one level"
        return f"generalized in a taxonomy of {depth}"
    if isinstance(attribute, NumberAttribute):
        noun = {"date": "dates", "timestamp": "times"}.get(attribute.scale.kind, "numbers")
        return f"intervals of {noun}"
    few = attribute.size <= 2
    return "shown, or suppressed to *" + ("" if few else "; a taxonomy would keep more")


def print_plan(plan: Plan) -> None:
    console = Console(markup=False, highlight=False)
    combinations = many(plan.tuples, "distinct combination")
    console.print(Text(f"{many(plan.records, 'record')}, {combinations} of quasi-identifier values"))
    for need in plan.policy.requirements:
        console.print(
            Text(f"needed: {', '.join(map(str, need.models))} on {', '.join(need.attributes)}"), soft_wrap=True
        )
    console.print(Text(f"method: {' or '.join(plan.methods)} ({plan.why})"), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="")
    for title in ("column", "role", "values", "what would become of it"):
        table.add_column(title, justify="right" if title == "values" else "left", overflow="fold")
    for column in plan.columns:
        values = "" if column.values is None else f"{column.values:,}"
        table.add_row(Text(column.name), column.role, values, column.treatment)
    console.print(table)
    for note in plan.notes:
        console.print(Text(f"note: {note}"), soft_wrap=True)
    console.print(Text(f"nothing was written; it would be: {', '.join(map(str, plan.files.values()))}"), soft_wrap=True)
