"""Compare: several methods and several k, as a picture of privacy against detail; a click takes a setting."""

from __future__ import annotations

import json
from typing import Any

from incrowd.errors import PolicyError
from incrowd.policy.methods import all_options, options_of, takes_several
from incrowd.report.charts import comparison_chart
from incrowd.report.tables import figure, percent
from incrowd.studio import policy_settings
from incrowd.studio.screens.protect import number
from incrowd.studio.screens.screen import OUT_OF_DATE, Form, Part, Screen
from incrowd.studio.studio import Studio

USUAL_METHODS, USUAL_KS, USUAL_SECONDS = ("tdr", "mondrian", "cover"), (3, 5, 10, 20, 50), 60
MOST_KS, MOST_RUNS, LARGEST_K, LONGEST = 8, 60, 1_000_000, 3600
COMMON = frozenset(("suppress", "priorities"))  # options that most methods take
PARTIAL = "partial.json"  # what is finished of a comparison that is going on
SEVERAL = 2  # times less loss is worth a mark
LOSS = "ncp"  # that the picture shows first
SHARES = (LOSS, "cm")  # losses in shares of 1
SHORT = {
    "ncp": "detail lost",
    "dm": "size of crowds, squared",
    "cm": "minority labels",
    "distortion": "distance",
}


def fitting(studio: Studio) -> dict[str, str]:
    """The methods that can be tried: those that take as many quasi-identifiers as the policy has."""
    from incrowd import methods

    several = len(policy_settings.quasi_sets(studio.project.settings())) > 1
    return {name: about for name, about in methods().items() if name != "auto" and (takes_several(name) or not several)}


def show(studio: Studio) -> dict[str, Any]:
    settings, found = studio.project.settings(), studio.result("compare")
    known = studio.project.result("compare")
    methods = fitting(studio)
    asked = found if found is not None else {}
    sets = policy_settings.quasi_sets(settings)
    if found is not None:
        found["stale"] = found["key"] != key_of(studio, settings)
    shown = {
        "policy_problem": studio.policy_problem(settings),
        "methods": methods,
        "chosen": [name for name in asked.get("methods", USUAL_METHODS) if name in methods],
        "ks": ", ".join(map(str, asked.get("ks", _usual_ks(settings)))),
        "seconds": asked.get("time_limit", USUAL_SECONDS),
        "job": studio.unfinished("compare"),
        "found": found,
        "now": (settings.get("method", "auto"), sets[0]["k"]),
        "partial": False,
        "digest": "" if known is None else known["digest"],
    }
    if shown["job"] is not None and not shown["job"].is_over:
        return {**shown, "found": None, **points(studio)}
    return shown if found is None else {**shown, **pictures(found, shown["now"])}


def points(studio: Studio) -> dict[str, Any]:
    """What is finished of a comparison that is going on; nothing of it can be taken yet."""
    sets, settings = policy_settings.quasi_sets(studio.project.settings()), studio.project.settings()
    now = (settings.get("method", "auto"), sets[0]["k"])
    try:
        known = json.loads((studio.project.folder_of("compare") / PARTIAL).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        known = {"runs": [], "about": {}}
    return {"partial": True, "digest": "", "now": now, **pictures(known, now, partial=True)}


def key_of(studio: Studio, settings: dict[str, Any]) -> str:
    """What a comparison was made from; the method with its own options and the k of the policy are no part of it."""
    own = all_options() - COMMON
    kept = {option: value for option, value in settings.items() if option != "method" and option not in own}
    plain = policy_settings.with_k(kept, 2)
    return studio.digest_of(plain)


def _usual_ks(settings: dict[str, Any]) -> list[int]:
    own = [each["k"] for each in policy_settings.quasi_sets(settings) if isinstance(each["k"], int)]
    return sorted({*USUAL_KS, *own[:1]})


def in_words(rows: list[dict[str, Any]], now: tuple[str, Any]) -> list[str]:
    """What the picture says of the detail that is lost, in sentences."""
    known = [row for row in rows if row["losses"].get(LOSS) is not None]
    ks = sorted({row["k"] for row in known})
    if not known:
        return []
    k = now[1] if now[1] in ks else ks[0]
    least = {each: min((row for row in known if row["k"] >= each), key=lambda row: row["losses"][LOSS]) for each in ks}
    best = least[k]
    said = f"With k = {k} or more, {best['setting']} loses least: {percent(best['losses'][LOSS])} of the detail"
    own = next((row for row in known if (row["method"], row["k"]) == now), None)
    if own is best:
        said += ", and it is the current setting"
    elif own is not None:
        said += f", where the current setting loses {percent(own['losses'][LOSS])}"
    sentences = [f"{said}."]
    if len(ks) > 1:
        low, high = (percent(least[each]["losses"][LOSS]) for each in (ks[0], ks[-1]))
        sentences.append(f"From k = {ks[0]} to k = {ks[-1]}, the least loss goes from {low} to {high}.")
    return sentences


def better(studio: Studio, loss: float | None) -> dict[str, Any] | None:
    """A setting that was compared, protects as well as the current one and keeps several times more detail."""
    found, settings = studio.project.result("compare"), studio.project.settings()
    k = policy_settings.quasi_sets(settings)[0]["k"]
    if found is None or not loss or not isinstance(k, int) or found["data"]["key"] != key_of(studio, settings):
        return None
    known = [run for run in found["data"]["runs"] if run["k"] >= k and run["losses"].get(LOSS) is not None]
    best = min(known, key=lambda run: run["losses"][LOSS], default=None)
    if best is None or best["losses"][LOSS] * SEVERAL > loss:
        return None
    return {**best, "loss": best["losses"][LOSS]}


def pictures(found: dict[str, Any], now: tuple[str, Any], *, partial: bool = False) -> dict[str, Any]:
    rows = [
        {**run, "row": place, "setting": f"{run['method']}, k = {run['k']}"} for place, run in enumerate(found["runs"])
    ]
    charts = []
    for name in sorted(found["about"], key=lambda each: each != LOSS):
        points = [
            {
                "setting": f"{row['setting']}: {(percent if name in SHARES else figure)(row['losses'][name])}",
                "k": row["k"],
                "loss": row["losses"][name],
                "dominated": row["dominated"][name] is not None,
                "method": row["method"],
                "now": (row["method"], row["k"]) == now,
                **({} if partial else {"row": row["row"]}),
            }
            for row in rows
            if row["losses"][name] is not None
        ]
        if points:
            title = SHORT.get(name, name)
            chart = comparison_chart(points, title.capitalize(), percent=name in SHARES)
            charts.append({"name": name, "title": title, "about": found["about"][name], "chart": chart})
    return {
        "rows": rows,
        "in_words": in_words(rows, now),
        "charts": charts,
        "first": charts[0]["name"] if charts else None,
        "some_left_out": any(row["left_out"] for row in rows),
    }


def run(studio: Studio, form: Form) -> str:
    known = fitting(studio)
    methods = [name for name in dict.fromkeys(form.all("method")) if name in known]
    if not methods:
        raise PolicyError("no method is chosen; choose at least one")
    ks = _ks(form.one("ks"))
    if len(methods) * len(ks) > MOST_RUNS:
        raise PolicyError(f"{len(methods) * len(ks)} settings are too many, at most {MOST_RUNS}; choose fewer")
    seconds = number(form.one("seconds") or str(USUAL_SECONDS), "the time for each setting")
    if not 0 < seconds <= LONGEST:
        raise PolicyError(f"the time for each setting must be above 0 and at most {LONGEST} seconds; got {seconds:g}")
    key = key_of(studio, studio.project.settings())
    request = {**studio.policy_task(), "methods": methods, "ks": ks, "time_limit": seconds}
    request |= {"key": key, "partial": PARTIAL}
    studio.run("compare", request, f"Trying {len(methods) * len(ks)} settings")
    return "The comparison has started."


def _ks(text: str) -> list[int]:
    found = []
    for part in text.replace(";", ",").split(","):
        if part.strip():
            value = number(part, "each k")
            if not isinstance(value, int) or not 2 <= value <= LARGEST_K:
                raise PolicyError(f"each k must be a whole number from 2 to {LARGEST_K:,}; got {part.strip()[:20]}")
            found.append(value)
    if not found:
        raise PolicyError("no k is given; write some, such as 5, 10, 20")
    if len(set(found)) > MOST_KS:
        raise PolicyError(f"at most {MOST_KS} different k at a time; write fewer")
    return sorted(set(found))


def take(studio: Studio, form: Form) -> str:
    known, settings = studio.project.result("compare"), studio.project.settings()
    if known is None or form.one("digest") != known["digest"]:
        raise PolicyError(OUT_OF_DATE)
    chosen = known["data"]["runs"][form.place("row", len(known["data"]["runs"]))]
    changed, left = with_method(settings, chosen["method"])
    studio.change(policy_settings.with_k(changed, chosen["k"]))
    message = f"Now using {chosen['method']}, k = {chosen['k']}."
    return message + (f" Dropped options that {chosen['method']} does not have: {', '.join(left)}." if left else "")


def with_method(settings: dict[str, Any], name: str) -> tuple[dict[str, Any], list[str]]:
    """The settings with another method, and which options it does not take."""
    refused = all_options() - options_of(name)
    left = [option for option in settings if option in refused and option != "max_steps"]
    gone = {*left, "max_steps", "method"}  # steps were those of another search
    return {**{option: value for option, value in settings.items() if option not in gone}, "method": name}, left


SCREEN = Screen(
    "compare",
    "Compare",
    "Try several methods and several k, and use the best setting.",
    show,
    actions={"run": run, "take": take},
    parts={"points": Part("parts/points.html", points)},
    needs="table",
    follows=("compare",),
    done=lambda studio: studio.project.result("compare") is not None,
)
