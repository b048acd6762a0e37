"""A survey with weights: a sample of a population.

A survey of a few thousand people stands for a million: each record has a weight, the number of people it stands for. An
attacker does not know who was asked, which protects; how much it protects is what the weights tell.
"""

# %% The table: people of three regions, of which the small one was asked more often, so that its weights are smaller.
import os
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

import incrowd

ROWS = int(os.environ.get("ROWS", "3000"))
FOLDER = Path(os.environ.get("FOLDER", "survey"))
FOLDER.mkdir(parents=True, exist_ok=True)
draw = random.Random(2)
weights = {"north": 400.0, "south": 250.0, "island": 40.0}
regions = [draw.choices(list(weights), (5, 4, 1))[0] for _ in range(ROWS)]
survey = pa.table(
    {
        "region": regions,
        "age": [draw.randint(16, 95) for _ in range(ROWS)],
        "sex": [draw.choice(["f", "m"]) for _ in range(ROWS)],
        "children": [draw.choices(range(7), (40, 20, 20, 10, 6, 3, 1))[0] for _ in range(ROWS)],
        "votes": [draw.random() < (0.6 if region == "north" else 0.4) for region in regions],
        "weight": [weights[region] for region in regions],
    }
)
known = ["region", "age", "sex", "children"]

# %% Before: a prosecutor knows that the target was asked, a journalist does not. With weights the second risk is known.
before = incrowd.assess(survey, quasi_identifiers=known, weights="weight")
print(before)

# %% Whoever sees a weight knows the region, so weights may only stay if the region stays; and coarsened weights are of
# no use for estimates. So each region becomes a release of its own: within it, region and weight are the same for all.
releases = {}
for region in weights:
    releases[region] = incrowd.anonymize(
        survey.filter(pc.equal(survey["region"], region)),
        quasi_identifiers=["age", "sex", "children"],
        k=5,
        sensitive=["votes"],
        insensitive=["region", "weight"],
        taxonomies={"age": incrowd.Intervals((5, 10, 20))},
        method="mondrian",
    )
    print(releases[region])

# %% All regions together: everyone stands in a crowd of five, also for an attacker who knows regions and weights.
released = pa.concat_tables([release.data for release in releases.values()])
print(incrowd.verify(released, quasi_identifiers=[*known, "weight"], k=5).require())

# %% After: what the journalist can hope for in the release.
after = incrowd.assess(released, quasi_identifiers=known, weights="weight")
print(after)
assert after.prosecutor.highest <= before.prosecutor.highest


# %% What the survey is for: the share of those who vote, estimated with the weights. It is the same before and after,
# because neither the weights nor the answers were touched.
def share(rows: pa.Table) -> float:
    """The weighted share of those who vote."""
    return (
        pc.sum(pc.multiply(rows["weight"], rows["votes"].cast(pa.float64()))).as_py() / pc.sum(rows["weight"]).as_py()
    )


print(f"votes: {share(survey):.1%} in the survey, {share(released):.1%} in the release")
assert abs(share(survey) - share(released)) < 1e-9

# %% The releases, each with a report for the steward.
for region, release in releases.items():
    folder = FOLDER / f"{region}.confidential"
    release.write(FOLDER / f"{region}.parquet", report=folder / "report.html", overwrite=True)
