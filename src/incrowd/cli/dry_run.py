"""What `incrowd anonymize --dry-run` says: the role of each column, how it would be generalized, by which method."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from incrowd.engines.reading import compressed
from incrowd.engines.registry import engine_for
from incrowd.errors import many
from incrowd.formats.sources import Source
from incrowd.inspection.first_look import look_at
from incrowd.pipeline import with_side_knowledge
from incrowd.policy.dictionary import dictionaries
from incrowd.policy.policy import Policy
from incrowd.privacy.feasibility import check_feasible
from incrowd.release.files import ReleaseFiles
from incrowd.release.notes import reading_notes
from incrowd.run import Run
from incrowd.search.automatic.automatic import choices
from incrowd.search.registry import METHODS, method_of
from incrowd.settled import settle
from incrowd.table.attributes import Attribute, NumberAttribute, TaxonomyAttribute


def plan_of(source: Source, policy: Policy, files: ReleaseFiles, run: Run) -> dict[str, Any]:
    """Check the policy, read the table, and say what would be done."""
    settled = settle(policy, source)
    policy, engine = settled.policy, engine_for(policy, source)
    method = method_of(policy.method, policy.options, len(policy.quasi_identifiers), policy.models_of_table)
    look_at(source, policy, run).require(policy.keep, source.name)
    run.stage("reading")
    table, settled = with_side_knowledge(engine, compressed(engine, source, policy, run), settled, run)
    policy = settled.policy
    requirements = tuple(requirement.fitted(table.protected) for requirement in policy.requirements)
    check_feasible(table, requirements)
    attributes = {attribute.name: attribute for attribute in table.attributes}
    tried, why = choices(table, requirements) if policy.method == "auto" else ((policy.method,), method.about)
    written = {"release": files.release, "certificate": files.certificate, "confidential": files.confidential}
    if not any(METHODS[name].local for name in tried):
        written |= {"recoding": files.recoding}
    written |= {f"dictionary_{name}": files.dictionary(name) for name in dictionaries(policy.dictionary)}
    return {
        "policy": policy.to_json(),
        "records": table.records,
        "tuples": len(table.counts),  # distinct combinations of quasi-identifier values
        "methods": list(tried),
        "why": why,
        "columns": [_column(name, policy, attributes.get(name)) for name in source.columns],
        "notes": [*settled.notes(), *reading_notes(table, policy)],
        "files": {name: str(path) for name, path in written.items()},
        "needed": [
            f"{', '.join(map(str, need.models))} on {', '.join(need.attributes)}" for need in policy.requirements
        ],
    }


def _column(name: str, policy: Policy, attribute: Attribute | None) -> dict[str, Any]:
    if attribute is not None:
        role, values, treatment = "quasi-identifier", attribute.size, _generalized(attribute)
        return {"name": name, "role": role, "values": values, "treatment": treatment}
    roles = {"identifier": policy.identifiers, "target": (policy.target,), "sensitive": policy.sensitive}
    roles |= {"insensitive": policy.insensitive, "kept on purpose": policy.keep}
    role = next((role for role, names in roles.items() if name in names), "none")
    treatment = {"identifier": "dropped", "none": "passes through untouched"}.get(role, "kept unchanged")
    return {"name": name, "role": role, "values": None, "treatment": treatment}


def _generalized(attribute: Attribute) -> str:
    if isinstance(attribute, TaxonomyAttribute):
        depth = f"{attribute.taxonomy.height} levels" if attribute.taxonomy.height > 1 else "one level"
        return f"generalized in a taxonomy of {depth}"
    if isinstance(attribute, NumberAttribute):
        noun = {"date": "dates", "timestamp": "times"}.get(attribute.scale.kind, "numbers")
        return f"intervals of {noun}"
    few = attribute.size <= 2
    return "shown, or suppressed to *" + ("" if few else "; a taxonomy would keep more")


def print_plan(plan: Mapping[str, Any]) -> None:
    console = Console(markup=False, highlight=False)
    combinations = many(plan["tuples"], "distinct combination")
    lines = [f"{many(plan['records'], 'record')}, {combinations} of quasi-identifier values"]
    lines += [f"needed: {need}" for need in plan["needed"]]
    for line in (*lines, f"method: {' or '.join(plan['methods'])} ({plan['why']})"):
        console.print(Text(line), soft_wrap=True)
    table = Table(box=None, pad_edge=False, header_style="")
    for title in ("column", "role", "values", "what would be done"):
        table.add_column(title, justify="right" if title == "values" else "left", overflow="fold")
    for column in plan["columns"]:
        values = "" if column["values"] is None else f"{column['values']:,}"
        table.add_row(Text(column["name"]), column["role"], values, column["treatment"])
    console.print(table)
    for line in (
        *(f"note: {note}" for note in plan["notes"]),
        f"nothing was written; it would be: {', '.join(plan['files'].values())}",
    ):
        console.print(Text(line), soft_wrap=True)
