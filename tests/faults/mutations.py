"""Everything that can go wrong with one field of a JSON document: what a careless or hostile hand could make of it."""

import copy

DEEP = [[[[[[[[[[["x"]]]]]]]]]]]
STRANGE = (
    None,
    "",
    " ",
    "x",
    "name",
    "*",
    "\ud800",
    "x" * 10_000,
    0,
    1,
    -1,
    7,
    10**9,
    2**63,
    10**400,
    0.5,
    1e300,
    True,
    False,
    [],
    [None],
    [""],
    ["x", "x"],
    [1, 2],
    {},
    {"x": 1},
    {"kind": "taxonomy"},
    DEEP,
)
MOST_ITEMS = 2  # of a long list the first few and the last are changed


def places(document, path=()):
    """Every field and item of a document, as the keys that lead there."""
    if isinstance(document, dict):
        keys = list(document)
    elif isinstance(document, list):
        keys = sorted({*range(len(document))[:MOST_ITEMS], *range(len(document))[-1:]})
    else:
        return
    for key in keys:
        yield (*path, key)
        yield from places(document[key], (*path, key))


def changed(document, path, change):
    """A copy of the document in which `change(parent, key)` was done at one place."""
    copied = copy.deepcopy(document)
    parent = copied
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return copied


def mutations(document):
    """The document with one field deleted, replaced, doubled or turned around, and with one field too many."""
    for path in places(document):
        found = document
        for key in path:
            found = found[key]
        yield (*path, "gone"), changed(document, path, lambda parent, key: parent.pop(key))
        for strange in STRANGE:
            if type(strange) is not type(found) or strange != found:
                put = changed(document, path, lambda parent, key, new=strange: parent.__setitem__(key, new))
                yield (*path, f"= {repr(strange)[:30] if strange != 10**400 else '10^400'}"), put
        if isinstance(found, list) and found:
            yield (*path, "doubled"), changed(document, path, lambda parent, key: parent[key].append(parent[key][-1]))
            turned = changed(document, path, lambda parent, key: parent[key].reverse())
            if turned != document:
                yield (*path, "turned"), turned
        if isinstance(found, dict):
            yield (*path, "more"), changed(document, path, lambda parent, key: parent[key].update(extra=1))
    yield ("more",), {**document, "extra": 1}
