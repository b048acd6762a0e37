"""The best generalization for a risk of all crowds together is ARX's, or another one for a reason that is known."""

from pathlib import Path

import pytest
from benchmarks.arx import Tables
from benchmarks.arx_risk import CROSSES, FIXED, NO_ROOT, NO_SNB, ours, settings, why
from tests.examples import EFFORT
from tests.shared_data import SHARED_DATA, needs_shared_data

pytestmark = [needs_shared_data, pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")]
REASONS = {"zayatz": {FIXED}, "pitman": {NO_ROOT}, "snb": {NO_SNB}, "dankar": {CROSSES, FIXED}}


@pytest.fixture(scope="module")
def tables():
    return Tables(SHARED_DATA)


@pytest.mark.parametrize("model", ["average re-identification risk", "sample uniqueness", "population uniqueness"])
def test_optima_are_those_of_arx(model, tables):
    tried = [setting for setting in settings(Path(SHARED_DATA)) if setting.model == model]
    for setting in tried[1::5] if EFFORT == "test" else tried:
        found = ours(tables, Path(SHARED_DATA), setting)
        fixed = ours(tables, Path(SHARED_DATA), setting, fixed=True)
        assert why(setting, found, fixed) in {"", *REASONS.get(setting.words.get("estimator"), ())}, setting
