"""Who may import whom, and how large things may grow, read from the source of incrowd."""

import ast
from pathlib import Path

import pytest

import incrowd

ROOT = Path(incrowd.__file__).parent
FILES = {".".join(("incrowd", *path.relative_to(ROOT).with_suffix("").parts)): path for path in ROOT.rglob("*.py")}
MODULES = {name.removesuffix(".__init__"): ast.parse(path.read_text(encoding="utf-8")) for name, path in FILES.items()}
ROOMS = ("search", "engines", "report", "studio")  # packages that do not know of each other
HEAVY = {"numpy", "pyarrow", "narwhals", "pandas", "polars", "numba", "rich"}
MOST_LINES = 400
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


@pytest.mark.parametrize("room", ROOMS)
def test_search_engines_and_report_do_not_import_each_other(room):
    others = [f"incrowd.{other}" for other in ROOMS if other != room]
    for name in MODULES:
        if is_part(name, f"incrowd.{room}"):
            assert not [found for found in everywhere(name) for other in others if is_part(found, other)], name


@pytest.mark.parametrize(
    ("name", "forbidden"),
    [
        ("incrowd.witness", ("search", "engines", "recodings", "table", "scales", "pipeline")),
        ("incrowd.search", ("pipeline", "release", "witness", "cli")),
        ("incrowd.engines", ("pipeline", "release", "witness", "cli")),
        ("incrowd.table", ("recodings", "search", "engines", "policy")),
        ("incrowd.recodings", ("search", "engines", "policy", "release")),
        ("incrowd.measures", ("search", "engines", "witness")),
        ("incrowd.taxonomies", ("table", "recodings", "policy")),
        ("incrowd.evaluation", ("search", "comparison", "cli", "reproduce")),
        ("incrowd.pipeline", ("evaluation", "comparison", "cli", "reproduce")),
    ],
)
def test_what_a_module_may_not_know_of(name, forbidden):
    members = [module for module in MODULES if is_part(module, name)]
    assert members
    for member in members:
        for word in forbidden:
            assert not [found for found in everywhere(member) if is_part(found, f"incrowd.{word}")], (member, word)


@pytest.mark.parametrize("name", [name for name in MODULES if is_part(name, "incrowd.taxonomies")])
def test_taxonomies_do_not_need_arrow(name):
    assert not [module for module in reached(name) if is_part(module, "pyarrow")]


@pytest.mark.parametrize("name", ["incrowd", "incrowd.cli", "incrowd.errors", "incrowd.policy", "incrowd.words"])
def test_light_modules_wait_with_heavy_imports(name):
    assert not {module.partition(".")[0] for module in reached(name)} & HEAVY


def test_everything_public_has_a_docstring():
    for name, tree in MODULES.items():
        assert ast.get_docstring(tree), name
        for full_name, node in public(tree, name):
            assert ast.get_docstring(node), full_name


def test_every_name_of_the_public_api_exists():
    assert all(getattr(incrowd, name).__doc__ for name in incrowd.__all__)


def test_no_module_hides_a_public_name():
    """Importing incrowd.name sets the attribute `name` of incrowd, whatever that was before."""
    at_the_root = {name.split(".")[1] for name in MODULES if "." in name}
    assert at_the_root & set(incrowd.__all__) == {"datasets"}


def test_no_module_is_too_long():
    lines = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in FILES.items()}
    assert {name: count for name, count in lines.items() if count > MOST_LINES} == {}


def test_no_function_is_too_long():
    """Docstrings do not count."""
    found = {}
    for module, tree in MODULES.items():
        for name, node in functions(tree, module):
            first = node.body[0]
            docstring = first.end_lineno - first.lineno + 1 if ast.get_docstring(node) else 0
            found[name] = node.end_lineno - node.lineno + 1 - docstring
    assert {name: count for name, count in found.items() if count > MOST_FUNCTION_LINES} == {}
