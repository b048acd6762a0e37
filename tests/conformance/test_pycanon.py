"""An outside oracle: pycanon counts the same as `incrowd.verify` in releases of real tables.

Where it does not, that is a difference of definitions, and the test says which (docs/protection.md tells users):
- entropy l: pycanon cuts its number down to a whole one;
- delta: pycanon looks only at values that a class has; we look at all values, so that a class which lacks one gets
  infinity (the form that a union of good classes keeps);
- enhanced beta: pycanon gives the smaller of the basic beta and minus the logarithm of the rarest share, which the
  definition need not allow; we give the smallest beta that it allows, and infinity if there is none. Where there is
  one, both agree.
Recursive (c, l) is not compared: pycanon sorts the counts of values in ascending order, the definition in descending.
The pinned pycanon has the same formulas as later ones, which demand exact versions of numpy and pandas.
"""

from math import exp, inf, isfinite, log

import pandas as pd
import pytest
from pycanon import anonymity as pycanon
from tests.examples import EFFORT, some_of
from tests.shared_data import SHARED_DATA, needs_shared_data

import incrowd

pytestmark = pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")  # risks are not the point here

GERMAN = ("german", ["age", "job", "housing", "personal-status-sex"])
ADULT = ("adult", ["age", "education", "marital-status", "sex"])
CMC = ("cmc", ["age", "Weducation", "religion", "solindex"])
FARS = ("fars", ["AGE", "SEX", "PERSON_TYPE", "RACE"])

# releases: the table and its quasi-identifier, the sensitive column (of text, numbers or two values), methods, and k
RELEASES = [
    *((GERMAN, "purpose", method, 12) for method in ("tdr", "mondrian", "cover", "kaca", "datafly", "argus")),
    *((GERMAN, "installment-rate", method, 10) for method in ("tdr", "tds", "bug", "mondrian", "cover", "incognito")),
    *((GERMAN, "credit", method, 25) for method in ("tdr", "samarati")),
    *((ADULT, "occupation", method, 40) for method in ("tdr", "mondrian", "cover", "datafly")),
    *((ADULT, "education-num", method, 40) for method in ("tdr", "mondrian")),
    *((ADULT, "income", method, 20) for method in ("bug", "cover")),
]
COLLECTED = [
    *((CMC, "children", method, 15) for method in ("tdr", "mondrian", "cover")),
    *((CMC, "method", method, 20) for method in ("mondrian", "datafly")),
    *((FARS, "TAKEN_TO_HOSPITAL", method, 10) for method in ("mondrian", "cover")),
]


def rows_of(name):
    if name == "german":
        return pd.read_csv(incrowd.datasets.german())
    if name == "adult":
        return pd.read_csv(incrowd.datasets.adult())[::30].reset_index(drop=True)
    if name == "cmc":
        return pd.read_csv(SHARED_DATA / "cmc.csv", sep=";")
    return pd.read_csv(SHARED_DATA / "fars_pmlb.csv.gz", sep=None, engine="python")[::40].reset_index(drop=True)


def released(table, sensitive, method, k):
    name, columns = table
    people = rows_of(name)[[*columns, sensitive]]
    return incrowd.anonymize(people, quasi_identifiers=columns, sensitive=[sensitive], k=k, method=method).data


def agree(data, columns, sensitive):
    (finding,) = incrowd.verify(data, quasi_identifiers=columns, sensitive=[sensitive]).findings
    ours = {model.name: model.worst for model in finding.models}
    asked = data, columns, [sensitive]
    alpha, k = pycanon.alpha_k_anonymity(*asked)
    basic = pycanon.basic_beta_likeness(*asked)
    assert (finding.anonymity, ours["k-anonymity"]) == (k, pycanon.k_anonymity(data, columns))
    assert ours["distinct l-diversity"] == pycanon.l_diversity(*asked)
    assert ours["alpha-anonymity"] == pytest.approx(alpha)
    assert ours["t-closeness"] == pytest.approx(pycanon.t_closeness(*asked))
    assert ours["beta-likeness"] == pytest.approx(basic)
    whole = pycanon.entropy_l_diversity(*asked)
    assert whole - 1e-9 <= ours["entropy l-diversity"] < whole + 1 + 1e-9
    agree_on_enhanced_beta(
        ours["enhanced beta-likeness"], basic, data[sensitive], pycanon.enhanced_beta_likeness(*asked)
    )
    delta = ours["delta-disclosure"]
    some_class_lacks_a_value = not data.groupby(columns)[sensitive].nunique().eq(data[sensitive].nunique()).all()
    assert (delta == inf) == some_class_lacks_a_value
    assert not isfinite(delta) or delta == pytest.approx(pycanon.delta_disclosure(*asked))


def agree_on_enhanced_beta(ours, basic, values, theirs):
    assert theirs == pytest.approx(min(basic, -log(values.value_counts(normalize=True).min())))
    if isfinite(ours):
        assert ours == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("table", "sensitive", "method", "k"), some_of(RELEASES, 8, 1) if EFFORT == "test" else RELEASES
)
def test_it_agrees_on_releases_of_the_shipped_tables(table, sensitive, method, k):
    agree(released(table, sensitive, method, k), table[1], sensitive)


@needs_shared_data
@pytest.mark.parametrize(
    ("table", "sensitive", "method", "k"), some_of(COLLECTED, 3, 0) if EFFORT == "test" else COLLECTED
)
def test_it_agrees_on_releases_of_the_collected_tables(table, sensitive, method, k):
    agree(released(table, sensitive, method, k), table[1], sensitive)


def test_there_are_at_least_twenty_releases():
    assert len(RELEASES) >= 20


# a class of a, b, b, and one of a, a, a, a, b
GAINING = pd.DataFrame({"sex": ["f"] * 8, "age": ["<40"] * 3 + [">=40"] * 5, "ill": list("abb") + list("aaaab")})


def counted(model):
    (finding,) = incrowd.verify(GAINING, quasi_identifiers=["age"], sensitive=["ill"]).findings
    return next(found.worst for found in finding.models if found.name == model)


def test_entropy_l_is_not_cut_down():
    shares = 1 / 5, 4 / 5
    assert counted("entropy l-diversity") == pytest.approx(exp(-sum(share * log(share) for share in shares)))
    assert pycanon.entropy_l_diversity(GAINING, ["sex", "age"], ["ill"]) == 1


def test_enhanced_beta_is_one_that_the_definition_allows():
    # b gains (2/3 - 3/8) / (3/8) = 7/9 in the first class, below -log(3/8); a gains 7/25 in the second, below -log(5/8)
    assert counted("enhanced beta-likeness") == pytest.approx(7 / 9)
    frequent = pd.DataFrame({"age": ["<40"] * 4 + [">=40"] * 4, "ill": list("aaaaabbb")})
    (finding,) = incrowd.verify(frequent, quasi_identifiers=["age"], sensitive=["ill"]).findings
    # a gains (1 - 5/8) / (5/8) = 0.6 where -log(5/8) = 0.47 is allowed, whatever beta
    assert next(found.worst for found in finding.models if found.name == "enhanced beta-likeness") == inf
    assert not incrowd.verify(frequent, quasi_identifiers=["age"], sensitive=["ill"], enhanced_beta_likeness=100).holds
