"""A small project of the studio that its hierarchies, comparisons and releases are explored in, without a browser."""

import random
import re
from html import unescape

JOBS = ("nurse", "cook", "clerk", "driver", "teacher")


def people(rows=300):
    draw = random.Random(5)
    lines = ["age,job,zip,born,income"]
    for _ in range(rows):
        age, job = draw.randint(18, 79), draw.choice(JOBS)
        zip_code = f"1{draw.randint(0, 2)}{draw.randint(0, 9)}{draw.randint(0, 3)}"
        born = f"{draw.randint(1960, 2001)}-{draw.randint(1, 12):02}-01"
        lines.append(f"{age},{job},{zip_code},{born},{'high' if age > 50 else 'low'}")
    return "\n".join(lines) + "\n"


POLICY = """quasi_identifiers = ["age", "job", "zip", "born"]
k = 3
target = "income"
method = "tdr"

[taxonomies]
age = { widths = [10, 20] }
zip = { prefix = [2, 1] }

[types]
zip = "text"
"""
AGE, JOB, ZIP, BORN = range(4)


def problem(page):
    """What a page says is wrong: in one line, at the top or at its place."""
    found = re.findall(r'class="(?:problem|node-problem)" role="alert"[^>]*><bdi>(.*?)</bdi>', page, re.DOTALL)
    assert len(found) == 1, page[:2000]
    assert "\n" not in found[0]
    return unescape(found[0])


def nodes(page):
    """The id of each label of a tree, and its version."""
    pairs = re.findall(r'data-node="(\w+)".*?class="label"><bdi>(.*?)</bdi>', page, re.DOTALL)
    return {unescape(label): node for node, label in pairs}, re.search(r'name="version" value="(\w+)"', page)[1]


def edit(client, place, act, labels=(), status=200, **more):
    ids, version = nodes(client.get(f"/hierarchies/{place}"))
    sent = {"place": place, "version": version, "act": act, "nodes": [ids[label] for label in labels], **more}
    if "target" in more:
        sent["target"] = ids[more["target"]]
    return client.post("/hierarchies/edit", status, **sent)
