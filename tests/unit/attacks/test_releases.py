"""Two releases of four people, counted by hand, in Python and in the shell."""

import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

from incrowd.attacks.attack import attack
from incrowd.cli.commands import app

PEOPLE = {"age": [31, 32, 41, 42], "zip": [1, 2, 1, 2], "ill": ["flu", "cold", "flu", "gout"]}
BY_AGE = {"age": ["[30-40)", "[30-40)", "[40-50)", "[40-50)"], "ill": PEOPLE["ill"]}
BY_ZIP = {"zip": ["1", "2", "1", "2"], "ill": PEOPLE["ill"]}
WORDS = {"quasi_identifiers": ["age", "zip"], "k": 2, "sensitive": ["ill"], "only": ["releases"]}


def played(*others, **words):
    return attack(pa.table(BY_AGE), pa.table(PEOPLE), others=[pa.table(each) for each in others], **{**WORDS, **words})


def test_crowds_are_intersected_by_what_both_show():
    """Everyone is left with one record; flu is certain by zip alone, cold and gout by both."""
    below, certain = played(BY_ZIP)["releases"].scores
    assert (below.successes, below.control_successes) == (4, 0)
    assert (certain.successes, certain.control_successes) == (4, 2)


def test_releases_that_share_no_column_tell_nothing():
    below, *_ = played({"zip": BY_ZIP["zip"]})["releases"].scores
    assert below.successes == 0


def test_a_pseudonym_that_the_original_lacks_links_them():
    one, other = ({**each, "who": list("abcd")} for each in (BY_AGE, BY_ZIP))
    del one["ill"], other["ill"]
    found = attack(pa.table(one), pa.table(PEOPLE), others=[pa.table(other)], **{**WORDS, "sensitive": []})
    assert found["releases"].worst.successes == 4


def test_the_same_release_twice_tells_nothing():
    below, certain = played(BY_AGE)["releases"].scores
    assert (below.successes, certain.successes) == (0, 0)


def test_without_another_release_it_is_not_played():
    assert "--also" in played().skipped["releases"]


@pytest.mark.parametrize(("also", "code"), [("zip.csv", 3), ("age.csv", 0)])
def test_a_threshold_stops_the_shell(tmp_path, also, code):
    columns = {"people": PEOPLE, "age": BY_AGE, "zip": BY_ZIP}
    for name, table in columns.items():
        pa.csv.write_csv(pa.table({key: values * 10 for key, values in table.items()}), tmp_path / f"{name}.csv")
    policy = 'quasi_identifiers = ["age", "zip"]\nk = 11\nsensitive = ["ill"]\n[attack]\nmax_excess = 0.05\n'
    (tmp_path / "policy.toml").write_text(policy + 'only = "releases"\n')
    words = ["age.csv", "--original", "people.csv", "--also", also, "--policy", "policy.toml"]
    found = CliRunner().invoke(app, ["attack", *(str(tmp_path / w) if "." in w else w for w in words)])
    assert found.exit_code == code, found.output
