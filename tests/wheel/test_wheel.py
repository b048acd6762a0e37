"""The wheel has everything that the package needs, and nothing else; `make wheel` tries it in an empty environment."""

import pytest
from tests.wheel import __main__ as wheel


def test_the_wheel_is_complete(tmp_path):
    pytest.importorskip("hatchling")
    made = wheel.build(tmp_path)
    assert wheel.missing(made) == []
    assert wheel.strange(made) == []
