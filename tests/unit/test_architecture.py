"""Who may import whom, and how large things may grow, read from the source of incrowd."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

import incrowd
from incrowd.search.registry import METHODS

ROOT = Path(incrowd.__file__).parent
FILES = {".".join(("incrowd", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
MAY_IMPORT = {  # who knows whom, anywhere in its source; a room that is not here knows nobody
    "__init__": (
        "attacks comparison datasets errors evaluation inspection measures policy privacy recodings release "
        "risk run search taxonomies verification version"
    ),
    "__main__": "cli errors run",
    "attacks": "display errors formats key policy recodings run table taxonomies",
    "advice": (
        "attacks display errors inspection measures policy privacy recodings release run search settled table "
        "taxonomies"
    ),
    "cli": (
        "advice attacks comparison datasets display engines errors evaluation formats inspection key ledger migration "
        "options pipeline policy population privacy recodings release report risk run schemas search settled studio "
        "table taxonomies verification version"
    ),
    "comparison": (
        "attacks display engines errors evaluation formats inspection key measures pipeline policy population "
        "release run search settled table taxonomies version"
    ),
    "datasets": "errors policy",
    "display": "comparison errors evaluation release report run",
    "engines": "errors formats inspection policy recodings run table taxonomies",
    "evaluation": "display engines errors formats inspection key policy recodings release run table",
    "formats": "engines errors table",
    "inspection": "display errors formats policy run table taxonomies",
    "key": "errors schemas",
    "ledger": ("display engines errors formats key policy privacy recodings release run schemas table verification"),
    "measures": "errors privacy recodings table taxonomies",
    "migration": "errors formats policy privacy schemas taxonomies",
    "options": "errors schemas",
    "pipeline": (
        "engines errors formats inspection key ledger policy population privacy release report run search settled "
        "table verification"
    ),
    "policy": "errors options privacy run schemas search table taxonomies",
    "population": "errors formats policy privacy recodings run search table taxonomies",
    "privacy": "errors options population schemas table taxonomies",
    "recodings": "display errors key schemas table taxonomies",
    "release": (
        "advice attacks display engines errors evaluation formats inspection key ledger measures pipeline policy "
        "population privacy recodings risk run search settled table taxonomies verification"
    ),
    "report": (
        "advice attacks comparison display errors evaluation formats inspection measures policy privacy recodings "
        "release risk run schemas table taxonomies verification version"
    ),
    "risk": "display errors formats inspection policy population run table",
    "run": "errors key recodings",
    "schemas": "errors formats",
    "search": "errors key measures options privacy recodings run schemas table taxonomies",
    "settled": "formats inspection ledger policy population privacy search table taxonomies",
    "sklearn": "engines errors formats key policy recodings release run verification",
    "studio": (
        "attacks comparison errors evaluation formats inspection key ledger measures options pipeline policy "
        "population privacy recodings release report risk run schemas table taxonomies verification"
    ),
    "table": "errors taxonomies",
    "taxonomies": "display errors schemas",
    "verification": (
        "display errors formats inspection policy population privacy run schemas search settled table version"
    ),
}
_START, _OPTIONAL, _SHOWN = "start-up time", "an optional package", "results do not know how they are shown"
MAY_IMPORT_LATE = {  # besides `cli`, which starts fast: the modules that import others of incrowd in functions, and why
    "__main__": _START,
    "comparison.worker": _OPTIONAL,
    "datasets.demonstration": _START,
    "display": _SHOWN,
    "evaluation.trial": _OPTIONAL,
    "formats.registry": _OPTIONAL,
    "studio.app": _START,
    "studio.policy_settings": _START,
    "studio.screens.compare": _START,
    "studio.screens.data": _START,
    "studio.screens.hierarchies": _START,
    "studio.screens.hierarchy_files": "screens that link to each other",
    "studio.screens.steps": "screens that link to each other",
    "studio.screens.why": "screens that link to each other",
    "studio.worker": _START,
}
RECODING_KINDS = {"ByTuple", "ByValue"}
MAY_ASK_FOR_KINDS = ("incrowd.recodings", "incrowd.search.optimal.seeds")
PROTOCOLS = {
    "incrowd.recodings.recoding": "Recoding",
    "incrowd.engines.engine": "Engine",
    "incrowd.privacy.model": "PrivacyModel",
    "incrowd.run": "Run",
    "incrowd.measures.registry": "Measure",
    "incrowd.formats.registry": "Format",
}
NAME = re.compile(r"(incrowd(?:\.[a-z_0-9]+)+)(?::\w+)?")  # a module, or something in it, named by a string
HEAVY = {"numpy", "pyarrow", "narwhals", "pandas", "polars", "rich"}
MOST_FUNCTION_LINES = 60
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def imports(nodes):
    """The names of modules that some statements import; of `from a import b` both a and a.b."""
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            found |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return found


def everywhere(name):
    """What a module imports, at its top, for type checking, and inside functions."""
    return imports(ast.walk(MODULES[name]))


def at_the_top(name):
    """What happens to be imported when a module is."""
    return imports(MODULES[name].body)


def reached(name):
    """What is imported, directly or not, when a module is; importing a module imports the packages it is in."""
    seen, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module in seen:
            continue
        seen.add(module)
        if module in MODULES:
            waiting += [*at_the_top(module), module.rpartition(".")[0] or module]
    return seen


def is_part(module, package):
    return module == package or module.startswith(package + ".")


def functions(tree, prefix):
    """Every function of a module with its full name."""
    for node in ast.iter_child_nodes(tree):
        name = f"{prefix}.{node.name}" if isinstance(node, (*FUNCTIONS, ast.ClassDef)) else prefix
        if isinstance(node, FUNCTIONS):
            yield name, node
        yield from functions(node, name)


def public(tree, prefix):
    """Every public function, class and method, defined at the top of a module or of a public class."""
    for node in tree.body:
        if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and not node.name.startswith("_"):
            yield f"{prefix}.{node.name}", node
            if isinstance(node, ast.ClassDef):
                yield from public(node, f"{prefix}.{node.name}")


def room_of(module):
    """The folder, or the file beside folders, that a module is in."""
    return [*module.split("."), "__init__"][1]


def known_to(name):
    """The rooms that a module names: at its top, for type checking, inside functions, or by a string."""
    texts = {node.value for node in ast.walk(MODULES[name]) if isinstance(node, ast.Constant)}
    named = {found[1] for text in texts if isinstance(text, str) and (found := NAME.fullmatch(text))}
    rooms = {room_of(module) for module in MODULES}
    found = {room_of(module) for module in (*everywhere(name), *named) if is_part(module, "incrowd") and "." in module}
    return (found & rooms) - {room_of(name)}


@pytest.mark.parametrize("room", sorted({room_of(name) for name in MODULES}))
def test_a_room_knows_only_whom_it_may(room):
    allowed = set(MAY_IMPORT.get(room, "").split())
    found = {name: known_to(name) - allowed for name in MODULES if room_of(name) == room}
    assert {name: more for name, more in found.items() if more} == {}


def test_imports_are_at_the_top():
    late = set()
    for name, tree in MODULES.items():
        inside = [node for _, function in functions(tree, name) for node in ast.walk(function)]
        if any(is_part(module, "incrowd") for module in imports(inside)) and room_of(name) != "cli":
            late.add(name.removeprefix("incrowd."))
    assert late == set(MAY_IMPORT_LATE)


def test_the_library_does_not_know_the_papers():
    for name in MODULES:
        assert not [found for found in everywhere(name) if is_part(found, "papers")], name


WITNESS = tuple(f"incrowd.verification.{name}" for name in ("witness", "counts", "values", "uniqueness"))
WITNESS_MAY_KNOW = {*WITNESS, "incrowd.errors", "incrowd.table.arrays"}


@pytest.mark.parametrize("name", WITNESS)
def test_the_witness_shares_nothing(name):
    """Neither at its top nor inside functions nor for types, and nor does what it imports; not by a string either."""
    seen, waiting = set(), [name]
    while waiting:
        module = waiting.pop()
        if module not in seen and module in MODULES and module != "incrowd":  # which imports nothing by itself
            seen.add(module)
            waiting += everywhere(module)
            assert "importlib" not in everywhere(module), module
            assert "__import__" not in {getattr(node, "id", "") for node in ast.walk(MODULES[module])}, module
    assert seen <= WITNESS_MAY_KNOW


def test_nobody_asks_which_kind_of_recoding_it_is():
    for name, tree in MODULES.items():
        if any(is_part(name, allowed) for allowed in MAY_ASK_FOR_KINDS):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "isinstance":
                asked = {getattr(word, "id", getattr(word, "attr", "")) for word in ast.walk(node.args[1])}
                assert not asked & RECODING_KINDS, f"{name}:{node.lineno}"


def test_searches_ask_the_privacy_model_and_never_compare_with_k():
    found = []
    for name, tree in MODULES.items():
        if not is_part(name, "incrowd.search"):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Compare):
                sides = [node.left, *node.comparators]
                if any(getattr(side, "id", getattr(side, "attr", "")) == "k" for side in sides):
                    found.append(f"{name}:{node.lineno}")
    assert found == []


FAMILIES = sorted(
    path.parent.relative_to(ROOT / "search").as_posix().replace("/", ".")
    for path in (ROOT / "search").rglob("__init__.py")
    if "METHODS" in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_of_searches_declares_its_methods(family):
    declared = import_module(f"incrowd.search.{family}").METHODS
    assert declared
    for name, method in declared.items():
        assert METHODS[name] is method
        assert is_part(method.function.partition(":")[0], f"incrowd.search.{family}")


def test_every_method_belongs_to_a_family():
    declared = [name for family in FAMILIES for name in import_module(f"incrowd.search.{family}").METHODS]
    assert sorted(declared) == sorted(METHODS)


@pytest.mark.parametrize(("module", "name"), PROTOCOLS.items())
def test_a_protocol_says_its_contract(module, name):
    """The class itself, everything it asks for, and the module that it is in."""
    found = dict(public(MODULES[module], module))
    assert ast.get_docstring(MODULES[module])
    for each, node in found.items():
        if is_part(each, f"{module}.{name}"):
            assert ast.get_docstring(node), each
    assert len(ast.get_docstring(found[f"{module}.{name}"])) > 20


@pytest.mark.parametrize("name", [name for name in MODULES if is_part(name, "incrowd.taxonomies")])
def test_taxonomies_do_not_need_arrow(name):
    assert not [module for module in reached(name) if is_part(module, "pyarrow")]


@pytest.mark.parametrize(
    "name", ["incrowd", "incrowd.cli", "incrowd.errors", "incrowd.policy.policy", "incrowd.policy.options"]
)
def test_light_modules_wait_with_heavy_imports(name):
    assert not {module.partition(".")[0] for module in reached(name)} & HEAVY


def test_every_module_has_a_docstring():
    assert [name for name, tree in MODULES.items() if not ast.get_docstring(tree)] == []


def test_the_public_api_has_docstrings():
    """Every name of incrowd.__all__, and of classes every public method that is defined in incrowd."""
    for name in incrowd.__all__:
        thing = getattr(incrowd, name)
        assert thing.__doc__, name
        for owner in getattr(thing, "__mro__", ()):
            if is_part(owner.__module__, "incrowd"):
                for method, value in vars(owner).items():
                    if not method.startswith("_") and (callable(value) or isinstance(value, property)):
                        assert inspect.getdoc(getattr(thing, method)), f"{name}.{method}"


def test_no_module_hides_a_public_name():
    """Importing incrowd.name sets the attribute `name` of incrowd, whatever that was before."""
    at_the_root = {name.split(".")[1] for name in MODULES if "." in name}
    assert at_the_root & set(incrowd.__all__) == {"datasets"}


def test_no_function_is_too_long():
    """Docstrings do not count."""
    found = {}
    for module, tree in MODULES.items():
        for name, node in functions(tree, module):
            first = node.body[0]
            docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0
            found[name] = node.end_lineno - node.lineno + 1 - docstring
    assert {name: count for name, count in found.items() if count > MOST_FUNCTION_LINES} == {}
