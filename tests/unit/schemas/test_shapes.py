"""Shapes: what is refused, and in which words."""

import pytest

from incrowd.schemas.shapes import (
    Choice,
    Either,
    Fields,
    Flag,
    Kinds,
    ListOf,
    Nothing,
    Number,
    SchemaError,
    TableOf,
    Text,
    Whole,
)

PERSON = Fields({"name": Text(blank=False), "age": Whole(0)}, {"pets": ListOf(Text(), distinct=True)})


@pytest.mark.parametrize(
    ("shape", "value", "message"),
    [
        (Text(), 5, "The 'x' field must be text. Got 5"),
        (Text(blank=False), "", "The 'x' field must be text that is not empty. Got ''"),
        (Text(), "\ud800", "The 'x' field must be text. Got '\\ud800'"),
        (Text(pattern="[0-9]+", called="digits"), "1a", "The 'x' field must be digits. Got '1a'"),
        (Whole(2), 1, "The 'x' field must be an integer of at least 2. Got 1"),
        (Whole(2), True, "The 'x' field must be an integer of at least 2. Got True"),
        (Whole(0), False, "The 'x' field must be an integer of at least 0. Got False"),
        (Whole(0, 5), 10**5000, "The 'x' field must be an integer from 0 to 5. Got an int that is too large to show"),
        (Number(), float("nan"), "The 'x' field must be a finite number. Got nan"),
        (Number(), 10**400, "The 'x' field must be a finite number. Got 1" + "0" * 99 + "..."),
        (Flag(), 1, "The 'x' field must be true or false. Got 1"),
        (Choice(("a", "b")), ["a"], "The 'x' field must be one of a, b. Got a list of 1"),
        (Either((Text(), Nothing())), {}, "The 'x' field must be text or null. Got a table with 0 keys"),
        (ListOf(Text(), 1), [], "The 'x' field must be a list of at least 1 (text). Got a list of 0"),
        (ListOf(Text()), "name", "The 'x' field must be a list (text). Got 'name'"),
        (ListOf(Text()), ["a", 5], "The 'x[1]' field must be text. Got 5"),
        (ListOf(Text(), distinct=True), ["a", "a"], "The 'x' field must name nothing twice"),
        (TableOf(Whole()), {"a": 1.0}, "The 'x.a' field must be an integer. Got 1.0"),
        (PERSON, None, "The 'x' field must be a table. Got nothing"),
        (PERSON, {"name": "a"}, "The 'x.age' field must be there"),
        (PERSON, {"name": "a", "age": 3, "pet": []}, "The 'x' field must have no field 'pet'; did you mean 'pets'?"),
        (PERSON, {"name": "a", "age": -3}, "The 'x.age' field must be an integer of at least 0. Got -3"),
        (Kinds("kind", {"person": PERSON}), {"kind": "dog"}, "The 'x.kind' field must be 'person'. Got 'dog'"),
        (Kinds("kind", {"person": PERSON}), {"kind": "person", "age": 3}, "The 'x.name' field must be there"),
    ],
    ids=lambda value: "" if isinstance(value, int) else None,
)
def test_the_message_names_the_field_and_what_it_must_be(shape, value, message):
    with pytest.raises(SchemaError) as caught:
        shape.check(value, "x")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("shape", "value"),
    [
        (Text(), "Zoë"),
        (Whole(), -(2**63)),
        (Number(), 10**300),
        (Either((Text(), Nothing())), None),
        (ListOf(Text(), 1), ("a", "b")),
        (PERSON, {"name": "a", "age": 3, "pets": ["b"]}),
        (Kinds("kind", {"person": PERSON}), {"kind": "person", "name": "a", "age": 0}),
    ],
)
def test_what_fits_passes(shape, value):
    shape.check(value, "x")
