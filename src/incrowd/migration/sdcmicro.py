"""Scripts of sdcMicro: their usual steps, read as text. No R is run; what is not plain is named, not guessed."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from incrowd.errors import DataError, shown
from incrowd.migration.imported import CHANGED, IMPORTED, MISSING, Imported
from incrowd.schemas.regular_files import open_regular

MOST_BYTES = 1 << 22
_MOST_DEPTH = 50  # of brackets
_TOKEN = re.compile(
    r"""(?P<text>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(?P<comment>\#[^\n]*)|(?P<assign><-|(?<![=<>!])=(?!=))"""
    r"""|(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?L?)|(?P<name>[A-Za-z.][\w.]*(?:::[A-Za-z.][\w.]*)?)"""
    r"""|(?P<end>[\n;])|(?P<mark>[^\s])""",
    re.DOTALL,
)
Token = tuple[str, str]  # its kind and its text
_MEANS = "numbers of quasi-identifiers are joined in intervals; --form COLUMN=mean shows the mean of each crowd instead"
_STEPS_WITHOUT = {  # functions without a counterpart, and what to do instead
    "pram": "values are never swapped at random: what is released is true",
    "microaggregation": _MEANS,
    "addNoise": "no noise is added: what is released is true",
    "rankSwap": "values are never swapped: what is released is true",
    "shuffle": "values are never exchanged: what is released is true",
    "recordSwap": "records are never swapped: what is released is true",
    "dataGen": "no synthetic records are made",
    "groupAndRename": "write the groups into a taxonomy file: one line 'value;group;*' for each value",
    "mafast": _MEANS,
    "suda2": "nothing is promised by it; 'incrowd risk' measures it",
    "dRisk": "nothing is promised by it; 'incrowd risk' measures risks",
    "modRisk": "nothing is promised by it; 'incrowd risk' measures risks",
}


@dataclass(frozen=True)
class Call:
    """A function that a script calls, with its arguments as far as they are plain texts, numbers or lists of them."""

    name: str
    named: Mapping[str, Any]
    ordered: tuple[Any, ...]

    def value(self, name: str, place: int | None = None) -> Any:
        """An argument by name or place; None where it is not given, or not plain."""
        if name in self.named:
            return self.named[name]
        return self.ordered[place] if place is not None and place < len(self.ordered) else None

    def texts(self, name: str, place: int | None = None) -> list[str]:
        value = self.value(name, place)
        values = value if isinstance(value, list) else [value]
        return values if all(isinstance(each, str) for each in values) else []


def read_sdcmicro(path: Path, _: float | None = None) -> Imported:
    """Read a script of sdcMicro.

    Raises:
        DataError: It cannot be read, or does not set up an object of sdcMicro with key variables in plain text.
    """
    imported = Imported(path.name, "sdcMicro")
    for call in _calls(_text(path)):
        if call.name in _STEPS:
            _STEPS[call.name](call, imported)
        elif call.name in _STEPS_WITHOUT:
            imported.add(f"{call.name}()", MISSING, _STEPS_WITHOUT[call.name])
    if not imported.settings.get("quasi_identifiers"):
        raise DataError(
            f"{path.name} has no createSdcObj() whose keyVars are texts, such as c('age', 'sex'); name them so"
        )
    if not imported.has_promise:
        imported.add(
            "no kAnon() or localSuppression()", MISSING, "add a promise such as k = 5 before you use the policy"
        )
    return imported


def _text(path: Path) -> str:
    try:
        with open_regular(path) as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}; give a file that is there") from None
    if len(data) > MOST_BYTES or b"\0" in data:
        raise DataError(f"{path.name} is no script: it is larger than {MOST_BYTES >> 20} megabytes, or not text")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{path.name} is not UTF-8, got byte 0x{data[error.start]:02x}; save it as UTF-8") from None


def _calls(text: str) -> list[Call]:
    """The calls of a script, in order; variables that were assigned plain values stand for these."""
    found = (each for each in _TOKEN.finditer(text) if each.lastgroup != "comment")
    tokens = [(str(each.lastgroup), each[0]) for each in found] + [("end", "")] * 3
    known: dict[str, Any] = {}
    calls: list[Call] = []
    for place, (kind, word) in enumerate(tokens[:-2]):
        name = word.rpartition("::")[2]
        if kind != "name":
            continue
        if tokens[place + 1][0] == "assign":
            known[word] = _value(tokens, place + 2, known)
        elif tokens[place + 1][1] == "(" and (name in _STEPS or name in _STEPS_WITHOUT):
            named: dict[str, Any] = {}
            ordered: list[Any] = []
            for start in _parts(tokens, place + 2):
                if tokens[start][0] == "name" and tokens[start + 1] == ("assign", "="):
                    named[tokens[start][1]] = _value(tokens, start + 2, known)
                else:
                    ordered.append(_value(tokens, start, known))
            calls.append(Call(name, named, tuple(ordered)))
    return calls


def _parts(tokens: Sequence[Token], start: int) -> list[int]:
    """Where the arguments of a call begin."""
    starts, depth, place = [start], 1, start
    while place < len(tokens) - 2 and depth:
        mark = tokens[place][1] if tokens[place][0] == "mark" else ""
        depth += (mark in ("(", "[", "{")) - (mark in (")", "]", "}"))
        if mark == "," and depth == 1:
            starts.append(place + 1)
        place += 1
        if depth > _MOST_DEPTH:
            break
    if depth:
        raise DataError("the script has a bracket that is never closed, or too many inside each other; correct it")
    firsts = [next(at for at in range(each, place) if tokens[at][0] != "end") for each in starts]
    return [each for each in firsts if tokens[each][1] != ")"]


def _value(tokens: Sequence[Token], place: int, known: Mapping[str, Any]) -> Any:
    """A text, a number, or a list of them as c() makes it; None for anything that would have to be computed."""
    kind, word = tokens[place]
    if kind == "end" and word == "\n":
        return _value(tokens, place + 1, known) if tokens[place + 1][0] != "end" else None
    if kind == "name" and word == "c" and tokens[place + 1][1] == "(":
        values = [_plain(tokens, start, known) for start in _parts(tokens, place + 2)]
        return None if not values or any(each is None or isinstance(each, list) for each in values) else values
    return _plain(tokens, place, known)


def _plain(tokens: Sequence[Token], place: int, known: Mapping[str, Any]) -> Any:
    (kind, word), after = tokens[place], tokens[place + 1]
    if after[0] != "end" and after[1] not in (",", ")"):
        return None  # a part of a larger expression
    if kind == "text":
        return re.sub(r"\\(.)", r"\1", word[1:-1])
    if kind == "number":
        number = float(word.rstrip("L"))
        return int(number) if number == number // 1 and abs(number) < 1e15 else number
    return known.get(word) if kind == "name" else None


def _set_up(call: Call, imported: Imported) -> None:
    settings = imported.settings
    if keys := call.texts("keyVars", 1):
        settings["quasi_identifiers"] = list(dict.fromkeys(keys))
        imported.add("keyVars", IMPORTED, f"quasi_identifiers = {', '.join(keys)}")
    for name, option in (("sensibleVar", "sensitive"), ("excludeVars", "identifiers")):
        if columns := [each for each in call.texts(name) if each not in keys]:
            settings[option] = columns
            least = ", with l = 2, the least that is promised here" if option == "sensitive" else ""
            imported.add(name, IMPORTED, f"{option} = {', '.join(columns)}{least}")
    for name, became in _SET_UP_WITHOUT.items():
        if name in call.named:
            imported.add(f"{name} {', '.join(call.texts(name))}".strip(), MISSING, became)


_SET_UP_WITHOUT = {
    "numVars": "they stay as they are; make them quasi-identifiers if others may know them",
    "weightVar": "every record counts as one; 'incrowd risk --sampling-fraction' takes a sample into account",
    "hhId": "crowds of members of one household are not ruled out; --unit is for several records of one person",
    "strataVar": "make it a quasi-identifier that stays as it is: --levels COLUMN=0",
    "pramVars": "values are never swapped at random: what is released is true",
    "ghostVars": "a column that is suppressed along with another one: make it a quasi-identifier",
}


def _take_k(call: Call, imported: Imported) -> None:
    k = call.value("k", 1)
    found = f"{call.name}(k = {shown(k)})"
    if k is None and "k" not in call.named and len(call.ordered) < 2:
        k, found = 2, f"{call.name}()"
    if isinstance(k, list):
        imported.add(found, MISSING, "give each set of columns its own k: --qi age,sex:5")
    elif not isinstance(k, int) or k < 2:
        imported.add(f"{call.name}()", MISSING, "its k is not written plainly; add a promise such as k = 5")
    else:
        imported.settings["k"] = max(k, imported.settings.get("k", 0))
        said = "values are generalized rather than blanked; a blank that could be anything counts for no crowd"
        imported.add(found, CHANGED, f"k = {imported.settings['k']}; {said}")
    for name in ("importance", "combs"):
        if name in call.named:
            imported.add(
                f"{name} of {call.name}()", MISSING, "give weights with --priorities age=5, combinations with --qi"
            )


def _take_bounds(call: Call, imported: Imported) -> None:
    columns, breaks = call.texts("column", 1), call.value("breaks", 2)
    whole = isinstance(breaks, list) and len(breaks) > 2 and all(isinstance(each, int) for each in breaks)
    if len(columns) != 1 or not whole:
        imported.add(
            f"globalRecode({', '.join(columns)})", MISSING, "give bounds in whole numbers: --taxonomy age=bounds:18,65"
        )
        return
    bounds = sorted({each + 1 for each in breaks[1:-1]})  # R closes intervals at the end, bounds begin them
    note = "for whole numbers; the ends are open" + ("; labels are made anew" if "labels" in call.named else "")
    _code(imported, columns[0], {"bounds": bounds}, f"globalRecode({columns[0]})", note)


def _take_coding(call: Call, imported: Imported) -> None:
    columns, value, kind = (
        call.texts("column", 4),
        call.value("value", 1),
        call.value("kind", 3),
    )
    if len(columns) != 1 or not isinstance(value, int) or kind not in (None, "top", "bottom"):
        imported.add("topBotCoding()", MISSING, "give a whole number: --taxonomy age=top:90")
        return
    rule = {"bottom": value} if kind == "bottom" else {"top": value + 1}
    _code(
        imported,
        columns[0],
        rule,
        f"topBotCoding({columns[0]})",
        "a group such as >=91, not one value, for whole numbers",
    )


def _code(imported: Imported, column: str, rule: dict[str, Any], found: str, note: str) -> None:
    """A rule for the values of a quasi-identifier; other columns are not recoded."""
    if column not in imported.settings.get("quasi_identifiers", ()):
        imported.add(found, MISSING, "only quasi-identifiers are recoded; make it one, with --levels COLUMN=1:")
        return
    if column in imported.settings.get("taxonomies", {}):
        imported.add(found, MISSING, f"'{column}' was recoded before; write one rule for both steps")
        return
    imported.settings.setdefault("taxonomies", {})[column] = rule
    levels = [1] if "bounds" in rule else [0]
    if levels == [1]:
        imported.settings.setdefault("levels", {})[column] = levels
    imported.add(found, CHANGED, f"taxonomy {rule}; {note}")


def _take_diversity(call: Call, imported: Imported) -> None:
    columns = call.texts("ldiv_index", 1)
    new = [each for each in columns if each not in imported.settings.get("quasi_identifiers", ())]
    imported.settings["sensitive"] = list(dict.fromkeys([*imported.settings.get("sensitive", ()), *new]))
    became = (
        "it only measures; here l = 2 is promised of these columns" if new else "its ldiv_index is not written plainly"
    )
    imported.add(f"ldiversity({', '.join(columns)})", CHANGED if new else MISSING, became)


_STEPS: Mapping[str, Callable[[Call, Imported], None]] = {
    "createSdcObj": _set_up,
    "kAnon": _take_k,
    "localSuppression": _take_k,
    "globalRecode": _take_bounds,
    "topBotCoding": _take_coding,
    "ldiversity": _take_diversity,
}
