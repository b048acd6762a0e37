"""Scripts of sdcMicro become policies as far as their steps are written plainly; nothing is run or guessed."""

import tomllib

import pytest
from tests.command_line import run

from incrowd.errors import DataError
from incrowd.migration.importing import read_project

SCRIPT = """
library(sdcMicro)  # createSdcObj(dat, keyVars = "wrong")
keys <- c("age", 'sex',
          "job")
sdc <- createSdcObj(dat = people, keyVars = keys, numVars = c("wage"), weightVar = "w", sensibleVar = "income",
                    excludeVars = c("name"))
sdc <- globalRecode(sdc, column = "age", breaks = c(0, 24, 27, 99))
sdc <- sdcMicro::kAnon(sdc, k = 5, importance = c(1, 2, 3))
sdc <- pram(sdc, variables = "job")
suda2(sdc)
cat("kAnon(sdc, k = 99)")
"""


def script(tmp_path, text):
    path = tmp_path / "script.R"
    path.write_text(text)
    return path


def imported(tmp_path, text, start="s <- createSdcObj(d, c('age', 'sex'))\n"):
    return read_project(script(tmp_path, start + text))


def test_an_imported_script_runs(tmp_path):
    people = ((i, 20 + i % 10, "fm"[i % 2], "ab"[i % 3 == 0], ["low", "high"][i % 4 > 1], i % 7, 1) for i in range(80))
    rows = ["p" + ",".join(map(str, person)) for person in people]
    (tmp_path / "people.csv").write_text("name,age,sex,job,income,wage,w\n" + "\n".join(rows) + "\n")
    policy = tmp_path / "release.toml"
    done = run("import", script(tmp_path, SCRIPT), "-o", policy)
    assert done.exit_code == 0, done.stderr
    said = tomllib.loads(policy.read_text())
    assert said["quasi_identifiers"] == ["age", "sex", "job"]
    assert (said["k"], said["identifiers"], said["sensitive"]) == (5, ["name"], ["income"])
    assert said["taxonomies"] == {"age": {"bounds": [25, 28]}}
    assert said["levels"] == {"age": [1]}
    for each in ("numVars wage", "weightVar w", "pram()", "suda2()", "importance of kAnon()"):
        assert each in policy.read_text()
    done = run(
        "anonymize", tmp_path / "people.csv", "-o", tmp_path / "release.csv", "--policy", policy, "--method", "tdr"
    )
    assert done.exit_code == 0, done.stderr
    assert run("verify", tmp_path / "release.csv", "--qi", "age,sex,job", "--k", 5).exit_code == 0


@pytest.mark.parametrize(
    ("text", "settings"),
    [
        ("s <- localSuppression(s)", {"k": 2}),
        ("localSuppression(s, 7)", {"k": 7}),
        ("k <- 4\nkAnon(s, k = k)", {"k": 4}),
        ("kAnon(s, k = 2 + 3)", {}),
        ("kAnon(s, k = find())", {}),
        ("kAnon(s, k = c(7, 5, 3))", {}),
        ("topBotCoding(s, value = 90, replacement = 91, column = 'age')", {"taxonomies": {"age": {"top": 91}}}),
        ("globalRecode(s, column='age', breaks=10*c(0:10))", {}),
        ("globalRecode(s, column='wage', breaks=c(0,10,20))", {}),  # no key variable
        ("ldiversity(s, ldiv_index = 'income')", {"sensitive": ["income"]}),
    ],
)
def test_steps_are_imported_or_named(tmp_path, text, settings):
    found = imported(tmp_path, text)
    assert {name: value for name, value in found.settings.items() if name != "quasi_identifiers"} == settings
    assert len(found.lines) > 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "createSdcObj(d, keyVars = names(d))",
        "createSdcObj(d, 'age'); kAnon(s, k = 5",
        "createSdcObj(" * 10_000 + ")" * 10_000,
        "'" * 999,
        "\x00",
        "k <- " + "c(" * 5000 + ")" * 5000,
    ],
)
def test_what_sets_up_nothing_is_refused(tmp_path, text):
    with pytest.raises(DataError):
        imported(tmp_path, text, start="")
