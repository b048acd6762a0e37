"""The classes of bottom-up generalization where their values do not fit into one integer."""

from incrowd.search.bottom_up.class_index import _ROOM, _words


def test_values_are_packed_into_as_many_integers_as_they_need():
    sizes = [2**31, 2**30, 2**20, 5, 2**62, 7]
    words, strides = _words(range(6), sizes)
    assert len(set(words.values())) > 1
    for word in set(words.values()):
        members = sorted((strides[one], sizes[one]) for one in words if words[one] == word)
        room = 1
        for stride, size in members:
            assert stride == room
            room *= size
        assert room < _ROOM or len(members) == 1
