"""A billion rows: on a cluster, or on one machine.

Searches never see rows. They see the distinct combinations of quasi-identifier values and how often each occurs, so a
billion rows cost a search no more than a million. What touches the rows is an engine: Arrow streams them through one
machine, Spark lets a cluster count and write them. The release is the same, cell for cell.
"""

# %% The table: a folder of Parquet files, as a cluster would have it. `ROWS=1000000000` makes the billion.
import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import incrowd

ROWS = int(os.environ.get("ROWS", "1000000"))
FOLDER = Path(os.environ.get("FOLDER", "billion-rows"))
ENGINE = os.environ.get("ENGINE", "spark" if find_spec("pyspark") else "arrow")
table = FOLDER / "people.parquet"
table.mkdir(parents=True, exist_ok=True)
draw = np.random.default_rng(3)
part = min(ROWS, 1_000_000)
for number in range(max(1, ROWS // part)):
    columns = {
        "age": draw.integers(18, 95, part),
        "sex": np.array(["f", "m"])[draw.integers(0, 2, part)],
        "region": np.array([f"R{n:02d}" for n in range(60)])[draw.integers(0, 60, part)],
        "income": draw.lognormal(10, 0.5, part).round(-2),
    }
    pq.write_table(pa.table(columns), table / f"part-{number:05d}.parquet")

# %% One call. With Spark the rows stay on the cluster: only the distinct combinations come here, and only the recoding
# goes back. A data frame of Spark could be given instead of a path.
release = incrowd.anonymize(
    str(table),
    quasi_identifiers=["age", "sex", "region"],
    k=20,
    sensitive=["income"],
    taxonomies={"age": incrowd.Intervals((5, 10, 20))},
    method="tdr",
    engine=ENGINE,
)
print(f"engine {ENGINE}, {len(release.table.counts):,} distinct combinations")
print(release)

# %% The rows are written by the engine, and counted again while they are written, before they appear.
certificate = release.write(FOLDER / "release.parquet", overwrite=True)
print(f"{certificate.verification['records']:,} records released")
