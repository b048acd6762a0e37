"""The axes of charts: few marks, however far apart the values lie."""

import re

import pytest

from incrowd.report.charts import comparison_chart


def marks(losses):
    """The labels of the vertical axis of a chart of settings."""
    rows = [
        {"setting": f"tds k={k}", "method": "tds", "k": k, "loss": loss, "dominated": False}
        for k, loss in zip((5, 20, 50), losses, strict=True)
    ]
    return re.findall(r'class="name"[^>]*>([^<]*)<', str(comparison_chart(rows, "pMSE").svg))


@pytest.mark.parametrize("losses", [(1e-32, 0.01, 0.04), (1e-8, 1e-3, 0.04), (0.0, 0.01, 0.04), (1e-11, 1.0, 1e9)])
def test_an_axis_has_few_marks_that_differ(losses):
    found = marks(losses)
    assert 2 <= len(found) <= 8
    assert len(set(found)) == len(found)


def test_what_is_0_but_for_rounding_stands_at_0():
    assert marks((1e-32, 0.01, 0.04)) == marks((0.0, 0.01, 0.04))
