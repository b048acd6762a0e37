"""Commands of the corpus: exit code, stdout and stderr of each, and the files that it left."""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from incrowd.key import Key
from incrowd.search.registry import METHODS

PEOPLE = "name,age,sex,job,income\n" + "".join(
    f"p{i},{20 + i * 7 % 23},{'fm'[i % 2]},{['clerk', 'nurse'][i % 3 == 0]},{['low', 'high'][i % 4 > 1]}\n"
    for i in range(60)
)
POLICY = '[policy]\nk = 5\ntarget = "income"\nidentifiers = ["name"]\nquasi_identifiers = ["age", "sex"]\n'
TREE = "clerk,office,*\nnurse,care,*\n"
ASKED = "--qi age,sex,job --k 5 --identifiers name"
MADE = f"anonymize people.csv {ASKED} --key key.json"
COMMANDS = (
    "inspect anonymize why report evaluate compare verify risk apply taxonomy codebook numbers methods studio demo"
)
LINES = [
    "-h",
    "--version",
    "",
    "nonsense",
    *(f"{command} -h" for command in COMMANDS.split()),
    "methods",
    *(f"methods {name}" for name in METHODS),
    "methods covr",
    "inspect people.csv",
    "inspect people.csv --json",
    "inspect people.csv --write proposed.toml",
    "inspect gone.csv",
    "inspect empty.csv",
    f"{MADE} -o release.csv --target income",
    f"{MADE} -o release.csv",
    f"{MADE} -o release.csv --overwrite --method tdr --target income --json",
    f"{MADE} -o release.parquet --method mondrian --preview",
    f"{MADE} -o release.jsonl --method bug --suppress 0.05",
    f"{MADE} -o release.xlsx --method datafly",
    f"{MADE} -o release.sqlite#people --method incognito",
    f"{MADE} -o release.duckdb#people --method samarati",
    f"{MADE} -o told.csv --method optimal --report told.html --public-report public.md --confidential",
    f"{MADE} -o other.csv --dry-run",
    f"{MADE} -o other.csv --method tdr --sensitive income --l 2",
    f"{MADE} -o other.csv --method tdr --sensitive income --l 3 --overwrite",
    f"{MADE} -o ages.csv --taxonomy age=widths:5,10 --taxonomy job=tree.csv --method tdr",
    f"{MADE} -o ages.csv --taxonomy age=widths:x --overwrite",
    f"{MADE} -o bounds.csv --method mondrian --bounds exact",
    f"{MADE} -o kept.csv --keep-order",
    "anonymize people.csv -o named.csv --qi age,sex --k 5",
    "anonymize people.csv -o named.csv --qi age,sex --k 5 --keep name --key key.json",
    "anonymize people.csv -o none.csv --qi age,sex --k 100 --identifiers name",
    "anonymize people.csv -o none.csv --qi age,sex --k 1 --identifiers name",
    "anonymize people.csv -o none.csv --qi age,sexx --k 5",
    "anonymize people.csv -o none.csv --k 5",
    "anonymize people.csv -o none.csv --qi age,sex",
    "anonymize people.csv --qi age,sex --k 5",
    "anonymize gone.csv -o none.csv --qi age,sex --k 5",
    "anonymize people.csv -o none.xyz --qi age,sex --k 5 --identifiers name",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --method nonsense",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --methd tdr",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --engine nonsense",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --separator ;",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --master local",
    "anonymize people.csv -o none.csv --qi age --k 5 --identifiers name --key gone.json",
    "anonymize people.csv -o policy.csv --policy policy.toml --key key.json",
    "anonymize people.csv -o none.csv --policy bad.toml",
    "anonymize people.csv -o none.csv --policy policy.toml --strict",
    "verify release.csv --qi age,sex,job --k 5",
    "verify release.csv --qi age,sex,job --k 50",
    "verify release.csv --qi age,sex,job",
    "verify release.csv --qi age,sex,job --json",
    "verify release.csv --certificate release.csv.certificate.json",
    "verify people.csv --qi age,sex,job --k 5",
    "verify people.csv --certificate release.csv.certificate.json",
    "verify release.csv --qi age,sex,gone",
    "verify release.csv --qi age,sex,job --sensitive income --l 2",
    "risk people.csv --qi age,sex,job",
    "risk people.csv --qi age,sex,job --sensitive income --sampling-fraction 0.1 --json",
    f"why people.csv age {ASKED} --key key.json",
    f"why people.csv gone {ASKED}",
    f"report people.csv {ASKED} -o report.md --key key.json",
    f"evaluate people.csv {ASKED} --target income --folds 3",
    f"evaluate people.csv {ASKED}",
    f"compare people.csv {ASKED} --methods tdr,mondrian --ks 3,5 -o comparison",
    f"compare people.csv {ASKED} --methods tdr,nonsense --ks 3,5 -o comparison2",
    "taxonomy tree.csv",
    "taxonomy gone.csv",
    "codebook people.csv",
    "numbers release.csv -o numbers.csv",
    "numbers release.csv -o bounds2.csv --form bounds",
    "numbers gone.csv -o none.csv",
    "apply people.csv people.csv -o none.csv",
    "studio gone.csv",
]
CHANGING = (  # what differs from run to run
    (re.compile(r"\d+(\.\d+)? ?(ms|s|seconds?|min|MB|KB|GB)\b"), "TIME"),
    (re.compile(r"hmac-sha256:[0-9a-f]{64}|sha256:[0-9a-f]{64}|[0-9a-f]{64}"), "DIGEST"),
    (re.compile(r"\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?[\d.+:Z]*"), "MOMENT"),
)
UNREADABLE = (".parquet", ".xlsx", ".sqlite", ".duckdb", ".png", ".html")


def run_commands(folder):
    """Run all commands in one folder, in order; write a file per command."""
    target = folder / "shell"
    target.mkdir(parents=True, exist_ok=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INCROWD")}
    environment |= {"COLUMNS": "100", "LC_ALL": "C.UTF-8", "NO_COLOR": "1", "TERM": "dumb"}
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        (work / "people.csv").write_text(PEOPLE)
        (work / "empty.csv").write_text("")
        (work / "tree.csv").write_text(TREE)
        (work / "policy.toml").write_text(POLICY)
        (work / "bad.toml").write_text(POLICY + 'colour = "red"\n')
        (work / "key.json").write_text(json.dumps(Key.for_experiments(0).to_json()))
        before = set(work.rglob("*"))
        for number, line in enumerate(LINES):
            start = [sys.executable, "-W", "ignore", "-c", "from incrowd.cli import main; main()"]
            done = subprocess.run(
                [*start, *line.split()],
                cwd=work,
                env=environment,
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            after = set(work.rglob("*"))
            said = {
                "command": f"incrowd {line}",
                "exit": done.returncode,
                "stdout": steady(done.stdout, place),
                "stderr": steady(done.stderr, place),
                "files": {str(path.relative_to(work)): left(path, place) for path in sorted(after - before)},
            }
            before = after
            name = re.sub(r"[^\w.-]+", "_", line)[:80]
            (target / f"{number:03}-{name}.json").write_text(json.dumps(said, indent=1), encoding="utf-8")


def left(path, place):
    """What is in a file, where it is text."""
    if path.is_dir():
        return "folder"
    if path.suffix in UNREADABLE or "confidential" in path.parts[-2] or path.stat().st_size > 60000:
        return "file"
    return steady(path.read_text(encoding="utf-8", errors="replace"), place)


def steady(text, place):
    """The lines of a text, without what differs from run to run."""
    text = text.replace(place, "PLACE")
    for pattern, word in CHANGING:
        text = pattern.sub(word, text)
    return text.splitlines()
