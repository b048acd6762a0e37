"""Projects of ARX for tests, written in its format from scratch; the Java objects in them are junk on purpose."""

import zipfile
from xml.sax.saxutils import escape

JUNK = b"\xac\xed\x00\x05 never opened"
ROLES = {
    "qi": "QUASI_IDENTIFYING_ATTRIBUTE",
    "id": "IDENTIFYING_ATTRIBUTE",
    "sensitive": "SENSITIVE_ATTRIBUTE",
    "insensitive": "INSENSITIVE_ATTRIBUTE",
}


def assignment(name, role, *, kind="String", hierarchy=False, low="All", high="All", **more):
    parts = {"name": name, "type": ROLES[role], "datatype": kind, **more}
    if hierarchy:
        parts |= {"ref": f"hierarchies/{name}.csv", "min": low, "max": high}
    return "<assigment>" + "".join(f"<{k}>{escape(v)}</{k}>" for k, v in parts.items()) + "</assigment>"


def config(criteria=("5-anonymity",), suppression="0.0", metric="Loss (0.5/1.0/1.0)", weights=None, more=""):
    asked = "".join(f"<criterion>{escape(each)}</criterion>" for each in criteria)
    weighted = "".join(
        f"<attributeWeight><attribute>{escape(k)}</attribute><weight>{v}</weight></attributeWeight>"
        for k, v in (weights or {}).items()
    )
    return (
        "<config>\n<suppressTuplesInNonAnonymousOutput>true</suppressTuplesInNonAnonymousOutput>"
        "<suppressedAttributeTypes><type>QUASI_IDENTIFYING_ATTRIBUTE</type></suppressedAttributeTypes>"
        f"<practicalMonotonicity>false</practicalMonotonicity>\n<relativeMaxOutliers>{suppression}</relativeMaxOutliers>"
        f"<metric>{escape(metric)}</metric>\n<attributeWeights>{weighted}</attributeWeights>"
        f"<criteria>{asked}</criteria>{more}</config>"
    )


def files(assignments, hierarchies, *, table="", separator=";", config_xml=None, **settings):
    """The entries of a project, by name."""
    return {
        "metadata.xml": "<metadata><version>3.9.1</version><vocabulary>2.0</vocabulary></metadata>",
        "project.dat": JUNK,
        "project.xml": f"<project><name>p</name><separator>{escape(separator)}</separator></project>",
        "data/input.csv": table,
        "input/config.dat": JUNK,
        "input/config.xml": config_xml or config(**settings),
        "input/definition.xml": f"<definition>\n{''.join(assignments)}</definition>",
        **{f"input/hierarchies/{name}.csv": rows for name, rows in hierarchies.items()},
    }


def write_project(path, entries):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    return path


def hospital(records=240):
    """A project with every kind of column, and its table."""
    decades = ((age, age // 10 * 10, age // 20 * 20) for age in range(20, 80))
    ages = "\n".join(f"{age};{low}-{low + 9};{lowest}-{lowest + 19};*" for age, low, lowest in decades)
    zips = "\n".join(f"{z};{z[:3]}**;{z[:2]}***;*****" for z in (f"{10000 + 37 * i}" for i in range(40)))
    kin = "Wife;Wife;Partner;*\nHusband;Husband;Partner;*\n"
    kin += "Other relative;Other;Other relative;*\nChild;Own;Other relative;*"
    table = ["name;age;zip;kin;sex;diagnosis;charge;ward"]
    relatives = ["Wife", "Husband", "Other relative", "Child"]
    for i in range(records):
        row = [f"Person {i}", 20 + 7 * i % 60, 10000 + 37 * (i % 40), relatives[i % 4], "mf"[i // 7 % 2]]
        table.append(";".join(map(str, [*row, ["flu", "cold", "burn"][i % 3], 100 * (i % 5), f"ward {i % 2}"])))
    assignments = [
        assignment("name", "id"),
        assignment("age", "qi", kind="Integer", hierarchy=True, low="1"),
        assignment("zip", "qi", hierarchy=True),
        assignment("kin", "qi", hierarchy=True, high="2"),
        assignment("sex", "qi"),
        assignment("diagnosis", "sensitive", hierarchy=True),
        assignment("charge", "sensitive", kind="Integer"),
        assignment("ward", "insensitive", responseVariable="true"),
    ]
    illnesses = "flu;infection;*\ncold;infection;*\nburn;injury;*"
    return files(
        assignments,
        {"age": ages, "zip": zips, "kin": kin, "diagnosis": illnesses},
        table="\n".join(table) + "\n",
        criteria=(
            "3-anonymity",
            "0.9-closeness with hierarchical distance for attribute 'diagnosis'",
            "distinct-2-diversity for attribute 'charge'",
            "(1.0,1.0E-5)-DP",
        ),
        suppression="0.05",
        weights={"age": 0.9, "zip": 0.2},
    )
