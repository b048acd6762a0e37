"""Differences between two folders of the corpus, those of one kind together."""

import json
import re
from collections import defaultdict

NAMES = re.compile(r"^\d+-")


def compare(before, after, full=False):
    """Print every difference; 1 if there is any."""
    old, new = (
        {NAMES.sub("", str(p.relative_to(folder).with_suffix(""))): p for p in folder.rglob("*.json")}
        for folder in (before, after)
    )
    groups = defaultdict(list)
    for name in sorted(old.keys() | new.keys()):
        if name not in new or name not in old:
            groups["only before" if name in old else "only after"].append((name, ""))
            continue
        one, other = (json.loads(path.read_text(encoding="utf-8")) for path in (old[name], new[name]))
        for place, was, now in differences(one, other):
            groups[kind_of(name, place)].append((name, f"{place}: {short(was)} -> {short(now)}"))
    same = len(old.keys() & new.keys()) - len({name for found in groups.values() for name, _ in found})
    for kind, found in sorted(groups.items(), key=lambda group: -len(group[1])):
        print(f"\n{kind}: {len(found)} in {len({name for name, _ in found})} files")
        for name, what in found if full else found[:3]:
            print(f"  {name}  {what}")
    print(f"\n{same} of {len(old.keys() | new.keys())} files are equal")
    return 1 if groups else 0


def kind_of(name, place):
    """What belongs together: the family of files, and the place without numbers."""
    return f"{name.split('/')[0]} {re.sub(r'[[][0-9]+[]]', '[]', place)}"


def differences(one, other, place=""):
    """Place, old and new of every difference; lists of another length are one, with their first difference."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in sorted(one.keys() | other.keys()):
            yield from differences(one.get(key, ...), other.get(key, ...), f"{place}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            gone, come = [x for x in one if x not in other], [x for x in other if x not in one]
            yield f"{place}[]", gone or len(one), come or len(other)
        else:
            for number, (was, now) in enumerate(zip(one, other, strict=True)):
                yield from differences(was, now, f"{place}[{number}]")
    elif one != other:
        yield place, one, other


def short(value):
    """A value as far as it helps."""
    if value is ...:
        return "(nothing)"
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) < 160 else text[:157] + "..."
