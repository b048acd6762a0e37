"""The best full-domain generalization is that of ARX, setting by setting, or another one for a reason that is known."""

import pytest
from benchmarks.arx import COUNTED, WORDS, Tables, why
from tests.examples import EFFORT
from tests.shared_data import SHARED_DATA, needs_shared_data

OTHERS = {  # settings whose optimum is another one
    ("t-closeness equal", "0.1", 0.02): "leaves out everyone",
    ("t-closeness hierarchical", "0.1", 0.02): "leaves out everyone",
    ("beta-likeness", "6", 0.02): "compares with the original table",
}

pytestmark = [needs_shared_data, pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")]


@pytest.fixture(scope="module")
def tables():
    return Tables(SHARED_DATA)


@pytest.mark.parametrize("model", WORDS)
def test_optima_are_those_of_arx(model, tables):
    tried = [setting for setting in tables.settings() if setting.model == model]
    for setting in tried[-3:] if EFFORT == "test" else tried:
        reason = why(setting, tables.ours(setting, decoys=False), tables)
        known = OTHERS.get((setting.model, setting.parameter, setting.suppress))
        assert known in reason if known else not reason or reason.startswith(COUNTED), setting
