"""Releases of the corpus: every method with its options on every table, and every promise about a sensitive column."""

import json
import warnings

import pyarrow as pa
from tests.corpus.tables import numbers, tables
from tests.methods import ANY_TABLE as METHODS

import incrowd
from incrowd.key import Key

VARIANTS = {  # beside the defaults
    "auto": [{"suppress": 0.05}, {"priorities": "first"}],
    "tdr": [
        {"criterion": "gain"},
        {"max_steps": 2},
        {"suppress": 0.05},
        {"priorities": "first"},
        {"partial": True},
        {"restarts": 2},
    ],
    "tds": [{"criterion": "tdr"}, {"suppress": 0.05}, {"partial": True}],
    "bug": [
        {"information": "weighted"},
        {"information": "ncp"},
        {"pruning": False},
        {"suppress": 0.05},
        {"priorities": "first"},
        {"tighten": False},
        {"partial": True},
        {"suppress_values": 0.05},
        {"restarts": 1},
    ],
    "kaca": [{"distance": "ncp"}, {"distance": "uniform"}, {"beta": 2}, {"priorities": "first"}, {"suppress": 0.05}],
    "kaca2": [{"max_inconsistency": 0.2}, {"distance": "ncp"}, {"suppress": 0.05}],
    "cover": [
        {"objective": "dm"},
        {"objective": "mix"},
        {"objective": "target"},
        {"rounds": 5},
        {"effort": 0},
        {"priorities": "first"},
        {"proof": "bound"},
        {"suppress": 0.05},
    ],
    "optimal": [
        {"scheme": "ops"},
        {"scheme": "bhs"},
        {"scheme": "ghs"},
        {"cost": "ncp"},
        {"cost": "hdm"},
        {"cost": "cm"},
        {"suppress": 0.05},
        {"priorities": "first", "cost": "ncp"},
        {"direction": "bottom-up"},
        {"direction": "top-down"},
        {"gap": 0.2},
    ],
    "mondrian": [
        {"relaxed": True},
        {"suppress": 0.05},
        {"priorities": "first"},
        {"bounds": "exact"},
        {"proof": "bound"},
    ],
    "incognito": [{"cost": "ncp"}, {"suppress": 0.05}, {"priorities": "first", "cost": "ncp"}],
    "samarati": [{"cost": "ncp"}, {"suppress": 0.05}],
    "datafly": [{"suppress": 0.1}, {"priorities": "first"}],
    "argus": [{"length": 1}, {"suppress": 0.1}, {"bounds": "exact"}],
    "genetic": [{"fitness": "ncp", "population": 10, "patience": 20}, {"fitness": "cm", "evaluations": 50}],
}
COMMON = {"optimal": {"time_limit": 60}, "genetic": {"patience": 60}}
PROMISES = {
    "l": 2,
    "entropy_l": 1.5,
    "recursive_l": (2, 2),
    "t": 0.4,
    "alpha": 0.7,
    "beta_likeness": 3,
    "enhanced_beta_likeness": 3,
    "delta_disclosure": 1.5,
}
PROMISING = ("auto", "tdr", "tds", "bug", "kaca", "cover", "optimal", "mondrian", "incognito", "datafly")
LARGE = ("german", "adult")  # here only the defaults of slow methods
FEW = 24  # rows for the search that tries all recodings
SLOW = ("optimal", "kaca", "kaca2", "genetic")


def make_releases(folder):
    """Write a file per release."""
    warnings.simplefilter("ignore")
    for name, table, words in cases():
        path = folder / "releases" / f"{name}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(described(table, words), indent=1, sort_keys=True, default=str), encoding="utf-8")


def cases():
    """Name, table and arguments of every release."""
    for about, (table, common) in tables().items():
        kept = [name for name in table.column_names if name not in columns(common) and name != common.get("unit")]
        common = {**common, "keep": kept}
        for method in METHODS:
            options = [{}, *VARIANTS.get(method, [])]
            if about in LARGE and method in SLOW:
                options = options[:2]
            for place, chosen in enumerate(options):
                words = {**common, **COMMON.get(method, {}), **chosen, "method": method}
                if chosen.get("priorities") == "first":
                    words["priorities"] = {columns(common)[0]: 4}
                rows = table.slice(0, FEW) if method == "optimal" and about not in LARGE else table
                yield f"{about}/{method}-{place}-{'-'.join(map(str, chosen))}", rows, words
        for method in ("tdr", "cover", "mondrian"):
            for engine in ("duckdb",):
                yield f"{about}/{method}-on-{engine}", table, {**common, "method": method, "engine": engine}
        yield f"{about}/kept-order", table, {**common, "method": "tdr", "keep_order": True}
        yield f"{about}/mondrian-drop", table, {**common, "method": "mondrian", "missing": "drop"}
    people, kept = numbers(), ["height", "children", "income", "ill"]
    asked = {"quasi_identifiers": ["age", "sex"], "k": 3, "keep": kept}
    for promise, value in PROMISES.items():
        for method in PROMISING:
            for budget in ({}, {"suppress": 0.1}):
                words = {**asked, "method": method, "sensitive": {"ill": {promise: value}}, **budget}
                rows = people.slice(0, FEW) if method == "optimal" else people
                yield f"promises/{promise}-{method}{'-suppress' * bool(budget)}", rows, words
    for method in ("tdr", "bug", "cover", "mondrian", "incognito"):
        for presence in ({"k_map": 6}, {"delta_presence": 0.6}):
            words = {
                **asked,
                "method": method,
                "population_table": pa.concat_tables([people, numbers(150)]),
                **presence,
            }
            yield f"promises/{next(iter(presence))}-{method}", people, words
    for distance in ("equal", "ordered", "hierarchical"):
        yield f"promises/t-{distance}", people, {**asked, "sensitive": {"ill": {"t": 0.4, "t_distance": distance}}}
    yield "promises/harmless", people, {**asked, "sensitive": {"ill": {"l": 3, "harmless": ["flu"]}}}
    yield "promises/groups", people, {**asked, "sensitive": {"ill": {"l": 2, "groups": {"airs": ["flu", "cough"]}}}}
    for place, words in enumerate(MISTAKES):
        yield f"mistakes/{place}-{'-'.join(words)}", people, {**asked, **words}


MISTAKES = (
    {"k": 1},
    {"k": 91},
    {"k": "five"},
    {"quasi_identifiers": []},
    {"quasi_identifiers": ["agee"]},
    {"quasi_identifiers": "age"},
    {"method": "mondriann"},
    {"method": "tdr", "criterion": "best"},
    {"method": "tdr", "effort": 1},
    {"suppress": 1},
    {"suppress": -0.1},
    {"sensitive": {"ill": {"l": 9}}},
    {"sensitive": {"ill": {"l": 1}}},
    {"sensitive": {"ill": {"lll": 2}}},
    {"sensitive": ["age"]},
    {"sensitive": ["ill"], "t": 2},
    {"target": "age"},
    {"target": "gone"},
    {"keep": []},
    {"identifiers": ["age"]},
    {"types": {"sex": "number"}},
    {"types": {"age": "integer"}},
    {"ranges": {"age": (30, 40)}},
    {"ranges": {"sex": (0, 1)}},
    {"missing": "ignore"},
    {"taxonomies": {"sex": incrowd.Prefix((1,)), "agee": incrowd.Prefix((1,))}},
    {"taxonomies": "no/such/folder"},
    {"engine": "sparkk"},
    {"memory_limit": "1 apple"},
    {"k_map": 5},
    {"strict": True, "keep": []},
    {"time_limit": -1},
    {"priorities": {"age": 0}, "method": "tdr"},
    {"kk": 5},
    {"key": 5},
    {"unit": "gone"},
    {"method": "cover", "quasi_identifiers": [["age"], ["sex"]]},
)


def columns(words):
    """The columns of the quasi-identifiers."""
    named = words["quasi_identifiers"]
    return list(dict.fromkeys(c for one in named for c in ([one] if isinstance(one, str) else one["attributes"])))


def described(table, words):
    """Everything that a release is, or the error."""
    try:
        release = incrowd.anonymize(table, **{"key": Key.for_experiments(0), **words})
        data = release.data
        told = release.to_json()
        certificate = release.certificate.to_json()
        summary = release.summary()
    except incrowd.IncrowdError as error:
        return {"error": type(error).__name__, "message": str(error)}
    except Exception as error:
        return {"traceback": type(error).__name__, "message": str(error)}
    for secret in ("commitment", "versions", "digest", "checksum", "seal"):
        certificate.pop(secret, None)
    return {
        "schema": {field.name: str(field.type) for field in data.schema},
        "rows": ["|".join(map(repr, row.values())) for row in data.to_pylist()],
        "recoding": release.recoding.to_json(),
        "release": told,
        "certificate": certificate,
        "steps": [step.to_json() if hasattr(step, "to_json") else repr(step) for step in release.steps],
        "summary": summary.splitlines(),
    }
