"""Projects of ARX: a zip archive of XML, hierarchies in CSV, and Java objects, which are never opened.

What XML and CSV say is imported: roles, types, hierarchies, levels, weights, the limit of suppression, the quality
model and the privacy models. What only the Java objects know (the subset that is released, the size of the
population, costs and gains of a game) is named where something rests on it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite, prod
from pathlib import Path

from incrowd.errors import DataError, shown
from incrowd.migration.archive import Archive, open_archive
from incrowd.migration.criteria import COSTS, take_criterion
from incrowd.migration.hierarchies import Hierarchy, hierarchy_of
from incrowd.migration.imported import CHANGED, IMPORTED, MISSING, Imported
from incrowd.migration.xml_records import MOST_CHARACTERS, Element, parsed_xml

DATA = "data/input.csv"
_PREFIX = "input/"
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifiers",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi_identifiers",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}
_NUMBERS = ("Integer", "Decimal")
_COMMA_LOCALES = ("DE", "FR", "ES", "IT", "NL", "PT", "DA", "SV", "FI", "NO", "PL", "CS", "RU", "TR")
_MOST_SUPPRESSED = 0.99
_LEAST_WEIGHT = 0.001
_MOST_NODES = 20_000  # of full-domain generalizations; of more, auto chooses the search


@dataclass(frozen=True)
class Column:
    """A column as the project defines it."""

    name: str
    role: str
    kind: str
    format: str
    locale: str
    is_response: bool
    lowest: str
    highest: str
    reference: str
    microaggregation: str


def read_arx(path: Path, sampling_fraction: float | None = None) -> Imported:
    """Read a project of ARX.

    Raises:
        DataError: It cannot be read, is damaged or hostile, or is no project of ARX.
    """
    with open_archive(path) as archive:
        config = _xml(archive, f"{_PREFIX}config.xml", "config")
        definition = _xml(archive, f"{_PREFIX}definition.xml", "definition")
        separator = _separator(archive)
        columns = list(_columns(definition, archive.name))
        imported = Imported(archive.name, "ARX")
        _take_roles(imported, columns)
        hierarchies = {
            column.name: _hierarchy(archive, column, separator)
            for column in columns
            if column.role in ("quasi_identifiers", "sensitive") and column.reference
        }
    for criterion in config.all("criterion"):
        take_criterion(criterion.text, imported, sampling_fraction)
    _take_columns(imported, columns, hierarchies)
    _take_search(imported, config, [each for each in columns if each.role == "quasi_identifiers"], hierarchies)
    _finish(imported)
    return imported


def copy_table(path: Path, target: Path) -> None:
    """Copy the table out of a project."""
    with open_archive(path) as archive:
        archive.copy(DATA, target)


def _xml(archive: Archive, entry: str, top: str) -> Element:
    parsed = parsed_xml(archive.text(entry, MOST_CHARACTERS), f"{archive.name}: {entry}")
    if not parsed.inner or parsed.inner[0].name != top:
        raise DataError(f"{archive.name}: {entry} has no <{top}>, as projects of ARX do; give such a project")
    return parsed.inner[0]


def _separator(archive: Archive) -> str:
    separator = ";"
    if "project.xml" in archive:
        separator = _xml(archive, "project.xml", "project").first("separator", ";")
    if len(separator) != 1 or separator in '"\r\n':
        raise DataError(
            f"{archive.name}: project.xml says that {shown(separator)} separates columns; give one character"
        )
    return separator


def _columns(definition: Element, name: str) -> Iterator[Column]:
    seen: set[str] = set()
    for each in definition.all("assigment"):  # spelled so
        column = Column(
            each.first("name"),
            _ROLES.get(each.first("type").strip(), ""),
            each.first("datatype", "String").strip(),
            each.first("format").strip(),
            each.first("locale").strip().upper(),
            _like(each, "response").strip() == "true",
            each.first("min", "All").strip(),
            each.first("max", "All").strip(),
            each.first("ref").strip(),
            _like(each, "microaggregationfunction").strip(),
        )
        if not column.name or column.name in seen or not column.role:
            raise DataError(
                f"{name}: definition.xml has a column without a name or role, or twice; save the project again"
            )
        seen.add(column.name)
        yield column


def _like(column: Element, name: str) -> str:
    """The text of an element whose name differs between versions in its case and its end."""
    return next((each.text for each in column.inner if name in each.name.lower()), "")


def _take_roles(imported: Imported, columns: list[Column]) -> None:
    settings = imported.settings
    for role in ("quasi_identifiers", "identifiers", "insensitive"):
        if names := [each.name for each in columns if each.role == role]:
            settings[role] = names
            imported.add(f"{len(names)} {role.replace('_', '-')}", IMPORTED, ", ".join(names))
    if not settings.get("quasi_identifiers"):
        raise DataError(f"{imported.source} has no quasi-identifying attribute; give a project that is set up")
    if sensitive := [each for each in columns if each.role == "sensitive"]:
        settings["sensitive"] = {each.name: {} for each in sensitive}
        imported.add(f"{len(sensitive)} sensitive", IMPORTED, ", ".join(settings["sensitive"]))
    for each in columns:
        if not each.is_response:
            continue
        found = f"response variable '{each.name}'"
        if each.role not in ("sensitive", "insensitive") or "target" in settings:
            imported.add(
                found, MISSING, "a policy has one target, which is none of the columns that are recoded or dropped"
            )
            continue
        settings["target"] = each.name
        settings["insensitive"] = [name for name in settings.get("insensitive", ()) if name != each.name]
        imported.add(found, IMPORTED, f"target = {each.name}")


def _hierarchy(archive: Archive, column: Column, separator: str) -> Hierarchy | None:
    entry = f"{_PREFIX}{column.reference}"
    if entry not in archive:  # ARX 3.4.1 did not save those that it made itself
        return None
    return hierarchy_of(archive.text(entry), separator, f"{archive.name}: {entry}")


def _take_columns(imported: Imported, columns: list[Column], hierarchies: dict[str, Hierarchy | None]) -> None:
    for column in columns:
        hierarchy = hierarchies.get(column.name)
        if column.role == "sensitive":
            _take_sensitive(imported, column, hierarchy)
        elif column.role == "quasi_identifiers":
            _take_quasi_identifier(imported, column, hierarchy)
        if column.microaggregation and column.role == "quasi_identifiers":
            imported.add(
                f"microaggregation of '{column.name}' ({column.microaggregation})",
                MISSING,
                "it is generalized instead" if hierarchy else "it stays as it is and counts; give it a taxonomy",
            )


def _take_sensitive(imported: Imported, column: Column, hierarchy: Hierarchy | None) -> None:
    promises = imported.settings["sensitive"][column.name]
    if promises.get("t_distance") == "hierarchical" and hierarchy is None:
        promises["t_distance"] = "equal"
        imported.add(
            f"hierarchical distance of '{column.name}'", CHANGED, "it has no hierarchy; t_distance = equal is stricter"
        )
    elif promises.get("t_distance") == "hierarchical" and hierarchy is not None:
        hierarchy.rule = None  # the distance is asked of a tree
        imported.take(column.name, hierarchy, f"hierarchy of '{column.name}'")
    elif promises.get("t_distance") == "ordered" and column.kind not in _NUMBERS:
        promises["t_distance"] = "equal"
        imported.add(
            f"ordered distance of '{column.name}' ({column.kind})",
            CHANGED,
            "only numbers are in order; t_distance = equal is stricter",
        )
    if column.kind == "Decimal" and column.locale in _COMMA_LOCALES and "taxonomies" not in imported.settings:
        imported.settings.setdefault("types", {})[column.name] = "comma"
        imported.add(f"type of '{column.name}' (Decimal, {column.locale})", IMPORTED, "type = comma")
    if not promises:
        imported.add(f"sensitive '{column.name}' without a model", CHANGED, "l = 2, the least that is promised here")


def _take_quasi_identifier(imported: Imported, column: Column, hierarchy: Hierarchy | None) -> None:
    levels = imported.settings.setdefault("levels", {})
    if hierarchy is None:
        levels[column.name] = 0
        imported.add(f"'{column.name}' without a hierarchy", IMPORTED, "level 0: it stays as it is, and counts")
        return
    imported.take(column.name, hierarchy, f"hierarchy of '{column.name}'")
    lowest = _level(column.lowest, 0, hierarchy, imported.source)
    highest = _level(column.highest, len(hierarchy.heights) - 1, hierarchy, imported.source)
    top = max(hierarchy.heights) + hierarchy.is_open
    if lowest or highest < top:
        levels[column.name] = [lowest, highest] if highest < top else [lowest]
        said = f"levels {column.lowest} to {column.highest} of '{column.name}'"
        imported.add(said, IMPORTED, f"levels = {levels[column.name]}")


def _level(text: str, otherwise: int, hierarchy: Hierarchy, name: str) -> int:
    """The level of the tree for a level of the table."""
    if text not in ("", "All") and not (text.isascii() and text.isdigit() and len(text) < 4):
        raise DataError(f"{name}: definition.xml says {shown(text)} where a level should be; save the project again")
    level = otherwise if text in ("", "All") else int(text)
    return hierarchy.heights[min(level, len(hierarchy.heights) - 1)]


def _take_search(
    imported: Imported, config: Element, columns: list[Column], hierarchies: dict[str, Hierarchy | None]
) -> None:
    settings = imported.settings
    nodes = prod(max(hierarchy.heights) + 1 for each in columns if (hierarchy := hierarchies.get(each.name)))
    settings["method"] = "incognito" if nodes <= _MOST_NODES else "auto"
    why = "the exact search for the cheapest full-domain generalization, as ARX does"
    imported.add(
        f"search ({nodes:,} generalizations)",
        IMPORTED if nodes <= _MOST_NODES else CHANGED,
        f"method = incognito, {why}; cover often loses less" if nodes <= _MOST_NODES else "method = auto",
    )
    _take_quality(imported, config.first("metric").strip())
    _take_suppression(imported, config.first("relativeMaxOutliers", "0").strip())
    _take_weights(imported, config, {each.name for each in columns})
    if config.first("practicalMonotonicity").strip() == "true":
        imported.add("practical monotonicity", MISSING, "nothing is assumed that speeds up the search by a guess")
    if (text := config.first("suppressionString", "*")) != "*":
        imported.add(f"suppression string {shown(text)}", MISSING, "records that are left out have no row")


def _take_quality(imported: Imported, metric: str) -> None:
    if imported.settings["method"] != "incognito":
        imported.add(f"quality model {metric}", MISSING, "auto chooses by the loss of detail (ncp), or by the target")
        return
    cost, kind = next((cost for name, cost in COSTS.items() if metric.lower().startswith(name)), ("ncp", MISSING))
    if cost == "cm" and "target" not in imported.settings:
        cost, kind = "ncp", MISSING
    imported.settings["cost"] = cost
    became = f"cost = {cost}" + (", what is lost of detail, is minimized instead" if kind == MISSING else "")
    imported.add(f"quality model {metric}", kind, became)


def _take_suppression(imported: Imported, text: str) -> None:
    limit = _number(text, imported.source)
    if limit <= 0:
        return
    imported.settings["suppress"] = min(limit, _MOST_SUPPRESSED)
    imported.add(
        f"suppression limit {text}",
        CHANGED if limit > _MOST_SUPPRESSED else IMPORTED,
        f"suppress = {imported.settings['suppress']}; records that are left out have no row, where ARX writes *",
    )


def _take_weights(imported: Imported, config: Element, names: set[str]) -> None:
    weights = {
        each.first("attribute"): _number(each.first("weight").strip(), imported.source)
        for each in config.all("attributeWeight")
    }
    weights = {name: weight for name, weight in weights.items() if name in names}
    if len({weights.get(name, 0.5) for name in names}) < 2:
        return  # all alike
    priorities = {name: min(max(weights.get(name, 0.5), _LEAST_WEIGHT), 1000) for name in sorted(names)}
    imported.settings["priorities"] = priorities
    said = ", ".join(f"{name}={weight:g}" for name, weight in priorities.items())
    zero = f"; 0 becomes {_LEAST_WEIGHT}" if 0 in weights.values() else ""
    imported.add("attribute weights", CHANGED if zero else IMPORTED, f"priorities {said}{zero}")


def _number(text: str, name: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not isfinite(number) or number < 0:
        raise DataError(f"{name}: config.xml says {shown(text)} where a number should be; save the project again")
    return number


def _finish(imported: Imported) -> None:
    """Sensitive columns without promises as a list, which gives them the least promise."""
    settings = imported.settings
    if not any(settings.get("sensitive", {}).values()):
        settings["sensitive"] = list(settings.get("sensitive", {}))
    if not imported.has_promise:
        imported.add("no model with a counterpart", MISSING, "add a promise such as k = 5 before you use the policy")
