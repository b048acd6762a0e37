import gzip
import json

import pytest
from tests.shared_data import HIERARCHIES, ROOT, needs_shared_data

from incrowd.errors import PolicyError, TaxonomyError, UnknownNameError
from incrowd.taxonomies.paths import MOST_LEVELS
from incrowd.taxonomies.taxonomy import Taxonomy

EDUCATION = {
    "ANY": {
        "Secondary": {"Junior Sec.": ["9th", "10th"], "Senior Sec.": ["11th", "12th"]},
        "University": {"Bachelors": {}, "Grad School": ["Masters", "Doctorate"]},
    }
}
EDUCATION_CSV = """\
9th;Junior Sec.;Secondary;ANY
10th;Junior Sec.;Secondary;ANY
11th;Senior Sec.;Secondary;ANY
12th;Senior Sec.;Secondary;ANY
Bachelors;University;ANY
Masters;Grad School;University;ANY
Doctorate;Grad School;University;ANY
"""
EDUCATION_TOML = """\
[ANY.Secondary]
"Junior Sec." = ["9th", "10th"]
"Senior Sec." = ["11th", "12th"]
[ANY.University]
Bachelors = {}
"Grad School" = ["Masters", "Doctorate"]
"""


@pytest.fixture
def education():
    return Taxonomy.from_tree(EDUCATION)


@pytest.fixture
def write(tmp_path):
    def write(content, name="education.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_nodes_and_leaves_are_numbered_in_preorder(education):
    assert education.labels == (
        *("ANY", "Secondary", "Junior Sec.", "9th", "10th", "Senior Sec.", "11th", "12th"),
        *("University", "Bachelors", "Grad School", "Masters", "Doctorate"),
    )
    assert education.parent.tolist() == [-1, 0, 1, 2, 2, 1, 5, 5, 0, 8, 8, 10, 10]
    assert education.children[8] == (9, 10)
    assert education.leaves == (3, 4, 6, 7, 9, 11, 12)
    assert education.depth.tolist() == [0, 1, 2, 3, 3, 2, 3, 3, 1, 2, 2, 3, 3]
    assert (education.height, education.missing) == (3, None)


def test_queries(education):
    assert education.leaf_code("12th") == 3
    assert education.path(3) == ("12th", "Senior Sec.", "Secondary", "ANY")
    assert education.ancestors(education.node("Masters")) == (10, 8, 0)
    pairs = {("9th", "12th"): "Secondary", ("Masters", "Bachelors"): "University", ("9th", "Doctorate"): "ANY"}
    for (first, second), common in pairs.items():
        found = education.lowest_common_ancestor(education.node(first), education.node(second))
        assert education.labels[found] == common
    assert education.lowest_common_ancestor(8, 10) == 8


def test_unknown_labels_are_errors_that_name_no_other_leaf(education):
    with pytest.raises(UnknownNameError, match=r"no node 'Universty'.*did you mean 'University'") as caught:
        education.node("Universty")
    assert "Doctorate" not in str(caught.value)
    with pytest.raises(TaxonomyError, match="no leaf '13th'"):
        education.leaf_code("13th")
    with pytest.raises(TaxonomyError, match="'Secondary' is an inner node"):
        education.leaf_code("Secondary")
    with pytest.raises(TaxonomyError, match="no leaf for missing values"):
        education.leaf_code(None)


def test_the_missing_leaf_comes_last_and_moves_no_other(education):
    complete = education.with_missing()
    assert complete.labels == (*education.labels, None)
    assert (complete.missing, complete.leaf_code(None), complete.path(7)) == (7, 7, (None, "ANY"))
    assert complete.leaf_codes == education.leaf_codes
    assert complete.with_missing() is complete
    assert education.missing is None


def test_a_taxonomy_cannot_be_changed(education):
    with pytest.raises(AttributeError):
        education.height = 7
    with pytest.raises(ValueError, match="read-only"):
        education.parent[1] = 2
    with pytest.raises(TypeError):
        hash(education)


def test_render(education):
    assert Taxonomy.from_tree({"ANY": {"Secondary": ["9th", "10th"], "None": {}}}).with_missing().render() == (
        "ANY (4)\n├─ Secondary (2)\n│  ├─ 9th\n│  └─ 10th\n├─ None\n└─ (missing)"
    )
    assert education.render(1) == (
        "ANY (7)\n├─ Secondary (4)\n│  ├─ Junior Sec. (2)\n│  │  ├─ 9th\n│  │  └─ … and 1 more\n"
        "│  └─ … and 1 more\n└─ … and 1 more"
    )


def test_json_keeps_the_order_even_with_sorted_keys(education):
    complete = education.with_missing()
    assert Taxonomy.flat(["b", "a"]).with_missing().to_json() == {"*": ["b", "a", None]}
    assert Taxonomy.from_json(json.loads(json.dumps(complete.to_json(), sort_keys=True))) == complete
    assert Taxonomy.from_json(education.to_json()) == education != complete


@pytest.mark.parametrize("data", [["a"], {}, {"*": None}, {"*": [None]}, {"*": [None, "a"]}, {"*": [1]}, {"*": "a"}])
def test_json_that_is_no_tree_is_an_error(data):
    with pytest.raises(TaxonomyError):
        Taxonomy.from_json(data)


@pytest.mark.parametrize("separator", [";", ",", "\t"])
def test_csv_and_toml_give_the_same_tree(education, write, separator):
    assert Taxonomy.read(write(EDUCATION_CSV.replace(";", separator))) == education
    assert Taxonomy.read(write(EDUCATION_TOML, "education.toml")) == education


def test_csv_dialects(education, write):
    assert Taxonomy.read(write(gzip.compress(EDUCATION_CSV.encode()), "education.csv.gz")) == education
    assert Taxonomy.read(write("\ufeff" + EDUCATION_CSV.replace("\n", "\r\n") + "\r\n")) == education
    assert Taxonomy.from_csv(write(EDUCATION_CSV.replace(";", "|")), separator="|") == education
    assert Taxonomy.from_csv(write('"a;b";"say ""x""";*\nc;*')).path(0) == ("a;b", 'say "x"', "*")
    assert Taxonomy.from_csv(write("17;[15, 20[;*\n21;[20, 25[;*")).node("[15, 20[") == 1
    with pytest.raises(PolicyError, match="must be one character"):
        Taxonomy.from_csv(write(EDUCATION_CSV), separator=";;")


def test_equal_neighbours_on_a_path_are_one_node(write):
    taxonomy = Taxonomy.read(write("Other;Other;*\nHS-grad;HS-grad;Secondary;*\n9th;Junior;Secondary;*"))
    assert list(taxonomy.paths()) == [
        ("Other", "*"),
        ("HS-grad", "Secondary", "*"),
        ("9th", "Junior", "Secondary", "*"),
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "education.csv: empty"),
        ("\n\n", "education.csv: empty"),
        ("a;x;*\nb; ;*", "education.csv line 2: blank label"),
        ("a;x;*\n;x;*", "education.csv line 2: blank label"),
        ("a;x;*\n\nb;x;", "education.csv line 3: blank label"),
        ("a;x;*\nb;y;*\nc;x;y;*", "education.csv line 3: 'x' has two parents, '*' above and 'y' here"),
        ("a;x;*\nb;x;y;x;*", "education.csv line 2: 'x' is its own ancestor"),
        ("a;x;*\nb;x;*\na;y;*", "education.csv line 3: leaf 'a' is listed twice, first at education.csv line 1"),
        ("a;x;*\nb;y;ANY", "education.csv line 2: two roots, '*' above and 'ANY' here"),
        ("a;x;*\nb;x", "education.csv line 2: two roots, '*' above and 'x' here"),
        ("a;x;*\nx;*", "education.csv line 2: 'x' is both a leaf and an inner node"),
        ("x;*\na;x;*", "education.csv line 2: 'x' is both a leaf and an inner node"),
        ("*", "education.csv line 1: a path needs a leaf and a root"),
        ("a;*\n*;*", "education.csv line 2: a path needs a leaf and a root"),
        ('a;*\n"b;*\nc;*', "education.csv line 3: not CSV"),
        (b"a;*\nb;*\n\xe9;*", "education.csv line 3: not UTF-8, got byte 0xe9"),
    ],
)
def test_csv_errors_name_the_line(write, content, message):
    with pytest.raises(TaxonomyError) as caught:
        Taxonomy.read(write(content))
    assert str(caught.value).startswith(message)
    assert "; " in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "education.toml: empty"),
        ("[ANY]\nx = [", "education.toml line 2: not TOML"),
        ("[ANY]\nx y = ['a']", "education.toml line 2: not TOML"),
        ("A = ['a']\nB = ['b']", "education.toml: a tree has one root, got 2: A, B"),
        ("ANY = {}", "education.toml at ANY: a path needs a leaf and a root"),
        ("ANY = []", "education.toml at ANY: got an empty list"),
        ("[ANY]\nx = 'a'", "education.toml at ANY > x: expected a list"),
        ("[ANY]\nx = [1]", "education.toml at ANY > x > 1: a label is a string, got 1"),
        ("[ANY]\nx = ['a']\ny = ['a']", "education.toml at ANY > y > a: leaf 'a' is listed twice"),
        ("[ANY]\nx = ['ANY']", "education.toml at ANY > x > ANY: 'ANY' is its own ancestor"),
    ],
)
def test_toml_errors_name_the_place(write, content, message):
    with pytest.raises(TaxonomyError) as caught:
        Taxonomy.read(write(content, "education.toml"))
    assert str(caught.value).startswith(message)


def test_files_that_cannot_be_read(tmp_path, write):
    with pytest.raises(TaxonomyError, match=r"no taxonomy file '.*nowhere\.csv'"):
        Taxonomy.read(tmp_path / "nowhere.csv")
    with pytest.raises(TaxonomyError, match=r"x\.csv\.gz: cannot be read"):
        Taxonomy.read(write("a;*", "x.csv.gz"))
    with pytest.raises(TaxonomyError, match=r"x\.csv\.gz: cannot be read"):
        Taxonomy.read(write(gzip.compress(b"a;*" * 99)[:-9], "x.csv.gz"))
    with pytest.raises(TaxonomyError, match=r"x\.xlsx: .* got '\.xlsx'"):
        Taxonomy.read(write("a;*", "x.xlsx"))
    with pytest.raises(TaxonomyError, match="cannot be read"):
        Taxonomy.from_csv(tmp_path)


def test_paths_and_flat():
    assert Taxonomy.flat(["b", "a"], root="ANY").labels == ("ANY", "b", "a")
    with pytest.raises(TaxonomyError, match="sex path 2: leaf 'm' is listed twice"):
        Taxonomy.from_paths([("m", "*"), ("m", "x", "*")], "sex")
    with pytest.raises(TaxonomyError, match="a path is a list of labels"):
        Taxonomy.from_paths(["ab"])
    with pytest.raises(TaxonomyError, match="empty"):
        Taxonomy.flat([])


def test_a_long_path_is_read_and_one_that_is_absurd_is_not():
    path = [str(number) for number in range(MOST_LEVELS)]
    taxonomy = Taxonomy.from_paths([path])
    assert taxonomy.height == MOST_LEVELS - 1
    assert Taxonomy.from_json(json.loads(json.dumps(taxonomy.to_json(), indent=1))) == taxonomy
    with pytest.raises(TaxonomyError, match="taxonomy path 1: a path of 5000 labels, where at most 200 are allowed"):
        Taxonomy.from_paths([[str(number) for number in range(5000)]])


@pytest.mark.parametrize("depth", [300, 5_000, 100_000])
def test_a_tree_that_is_nested_too_deeply(tmp_path, depth):
    (tmp_path / "x.toml").write_text("a = " + "[" * depth + "]" * depth)
    (tmp_path / "y.toml").write_text(".".join(f"a{level}" for level in range(min(depth, 5_000))) + " = {}")
    for name in ("x.toml", "y.toml"):
        with pytest.raises(TaxonomyError, match=f"{name}.*(nested|levels|a label is a string|empty list)") as caught:
            Taxonomy.read(tmp_path / name)
        assert len(str(caught.value)) < 300


def test_a_small_archive_with_a_huge_taxonomy_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("incrowd.taxonomies.files.MOST_BYTES", 1000)
    for name, write in (("x.csv", lambda path, data: path.write_bytes(data)), ("x.csv.gz", write_gzip)):
        write(tmp_path / name, b"a;*\n" * 1000)
        with pytest.raises(TaxonomyError, match=f"{name}: larger than"):
            Taxonomy.read(tmp_path / name)


def write_gzip(path, data):
    path.write_bytes(gzip.compress(data))


HERE = sorted([*(ROOT / "src").glob("incrowd/datasets/*/taxonomies/*.csv"), *ROOT.glob("papers/taxonomies/*/*.csv")])


@pytest.mark.parametrize("path", HERE, ids=lambda path: f"{path.parts[-3]}/{path.name}")
def test_every_line_of_a_hierarchy_in_the_repository_is_a_path_of_its_tree(path):
    test_every_line_of_a_collected_hierarchy_is_a_path_of_its_tree(path)


@needs_shared_data
@pytest.mark.parametrize("path", sorted(HIERARCHIES.glob("*/*")), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_line_of_a_collected_hierarchy_is_a_path_of_its_tree(path):
    taxonomy = Taxonomy.read(path)
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    lines = {tuple(dict.fromkeys(line.split(";"))) for line in text.decode().splitlines()}
    called_alike = [tuple(dict.fromkeys(label.removesuffix(" (group)") for label in each)) for each in taxonomy.paths()]
    assert sorted(called_alike) == sorted(lines)


def test_a_value_and_a_group_that_are_called_alike_are_told_apart(write):
    taxonomy = Taxonomy.read(write("33.1;33.1;33;*\n33.11;33.1;33;*\n34;34;*\n"))
    assert list(taxonomy.paths()) == [
        ("33.1", "33.1 (group)", "33", "*"),
        ("33.11", "33.1 (group)", "33", "*"),
        ("34", "*"),
    ]
    again = write("33.11;33.1;33;*\n33.1;33.1;33;*\n33.1 (group);33;*\n", "taken.csv")
    with pytest.raises(TaxonomyError, match=r"'33.1' is both a leaf and an inner node"):
        Taxonomy.read(again)
