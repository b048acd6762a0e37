"""Which method, which k? Several of both on one table: what each costs, what it loses, and which are dominated.

The table is compressed once; every run then gets a fresh process, one after the other, so that times and peak memory
are comparable. A run is written to a log when it is finished: an interrupted comparison continues where it stopped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from incrowd.comparison.processes import Jobs, TrialDesign, answers
from incrowd.comparison.runs import RunLog, SettingRun, key_of
from incrowd.display import Tabular, watching
from incrowd.errors import PolicyError, UnknownNameError, many
from incrowd.evaluation.trial import CLASSIFIERS
from incrowd.formats.registry import open_source
from incrowd.formats.sources import Source
from incrowd.measures.registry import LOSSES
from incrowd.policy.making import make_policy
from incrowd.policy.options import OPTIONS
from incrowd.policy.policy import Policy
from incrowd.policy.toml import DIALECT, PARAMETERS, check_spelling
from incrowd.run import Run, Watch
from incrowd.search.registry import METHODS, method_of


@dataclass(frozen=True, repr=False)
class Comparison(Tabular):
    """The result of `compare`. It prints as a short table.

    Args:
        table: What the table is called.
        fingerprint: The digest of its data.
        runs: By method, then by k.
    """

    table: str
    fingerprint: str
    runs: tuple[SettingRun, ...]

    @cached_property
    def errors(self) -> tuple[str, ...]:
        """The names of the errors of classifiers, "error_tree" for one."""
        return tuple(dict.fromkeys(f"error_{entry['classifier']}" for run in self.runs for entry in run.errors))

    @cached_property
    def losses(self) -> tuple[str, ...]:
        """The measures of loss that are known of a run."""
        names = (*LOSSES, *self.errors, "worst_excess")
        return tuple(name for name in names if any(run.value(name) is not None for run in self.runs))

    def headline(self) -> str:
        done = sum(run.problem is None for run in self.runs)
        return f"{self.table}: {done} of {many(len(self.runs), 'setting')} finished"

    def dominated_by(self, run: SettingRun, loss: str) -> SettingRun | None:
        """A run that protects at least as well and loses less, or protects better and loses no more.

        Of several the one that loses least. None if there is none, or if the loss of this one is not known.
        """
        own = run.value(loss)
        if own is None:
            return None
        best = run
        for other in self.runs:
            value = other.value(loss)
            if value is not None and other.k >= run.k and (value, -other.k) < (own, -best.k):
                best, own = other, value
        return None if best is run else best

    def to_rows(self) -> list[dict[str, Any]]:
        """The runs, a row each: method, k, status, time, memory, and every measure that is known of one of them."""
        names = tuple(dict.fromkeys((*(name for run in self.runs for name in run.values), *self.errors)))
        return [
            {"method": run.method, "k": run.k, "status": run.status, **{name: run.value(name) for name in names}}
            for run in self.runs
        ]

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data; of each run also which one dominates it, by loss."""
        runs = []
        for run in self.runs:
            better = {loss: self.dominated_by(run, loss) for loss in self.losses}
            runs.append({**asdict(run), "dominated_by": {loss: str(other) for loss, other in better.items() if other}})
        head = {"incrowd": "comparison", "table": self.table, "fingerprint": self.fingerprint}
        return {**head, "losses": list(self.losses), "runs": runs}


def compare(
    data: Any,
    *,
    methods: Iterable[str] | str,
    ks: Iterable[int],
    log: str | Path | None = None,
    time_limit_per_run: float | None = None,
    attack: bool = False,
    evaluate: bool = False,
    test: Any = None,
    split: float | None = None,
    folds: int | None = None,
    protocol: str = "original",
    classifiers: Sequence[Any] = CLASSIFIERS,
    features: Sequence[str] | None = None,
    intervals: str = "midpoints",
    progress: Watch | bool | None = None,
    **settings: Any,
) -> Comparison:
    """Try several methods with several k on one table.

    Args:
        data: Path of a CSV or Parquet file, or a pandas, polars or pyarrow table.
        methods: Names of methods, in a list or separated by commas, each with its own options if needed:
            "cover", "cover:objective=dm". What crowds show (`form`) may differ as well: "cover:form=age=mean".
        ks: Values of k, for quasi-identifiers without their own.
        log: File that keeps finished runs; those that it already has are not repeated.
        time_limit_per_run: Seconds that one run may take.
        attack: Whether to play attackers as well: the worst excess of those that a method makes a difference to.
        evaluate: Whether to test classifiers as well; needs scikit-learn. The next seven are as in `evaluate`.
        test: Test rows.
        split: Share of the rows to test on.
        folds: Number of folds.
        protocol: "original", "apply" or "together"; see `evaluate`.
        classifiers: "tree", "bayes", "c45", "bayes10", names of scikit-learn classifiers, or estimators.
        features: Columns that classifiers may use.
        intervals: "midpoints" or "categories".
        progress: Called with every event of the run; True for a line on stderr, False for nothing. The default is a bar
            in notebooks and nothing elsewhere.
        **settings: All other parameters of `anonymize`, such as `quasi_identifiers`; an option of a method goes to
            every method that takes it.

    Raises:
        PolicyError: A policy is inconsistent. A run that fails is not an error: it says why.
        DataError: The table cannot be read or used.
    """
    dialect = {name: settings.pop(name) for name in DIALECT if name in settings}
    options = {name: settings.pop(name) for name in list(settings) if name not in PARAMETERS}
    check_spelling(options, compare)
    if "k" in settings:
        raise PolicyError("The 'k' parameter is not for a comparison. Give the values to compare as 'ks'.")
    design = None
    if evaluate:
        rows = None if test is None else open_source(test, **dialect)
        design = TrialDesign(rows, split, folds, protocol, classifiers, features, intervals)
    with watching(progress) as watch:
        return comparison_of(
            open_source(data, **dialect),
            settings_of(methods, {k: make_policy(k=k, options=options, **settings) for k in ks}),
            design=design,
            attacked=attack,
            dialect=dialect,
            log=None if log is None else Path(log),
            time_limit=time_limit_per_run,
            run=Run(watch),
        )


@dataclass(frozen=True)
class Setting:
    """A method as the user wrote it, a k, and the policy that they make."""

    method: str
    k: int
    policy: Policy


def settings_of(methods: Iterable[str] | str, policies: Mapping[int, Policy]) -> tuple[Setting, ...]:
    listed = methods.split(",") if isinstance(methods, str) else methods
    texts = tuple(dict.fromkeys(text.strip() for text in listed))
    if not texts or not policies:
        raise PolicyError("A comparison must have at least one method and one k. None was given.")
    if len(policies) > len({policy.quasi_identifiers for policy in policies.values()}):
        raise PolicyError("every quasi-identifier has its own k, so several ks make no difference; give only one")
    named = {text: _method_options(text) for text in texts}
    taken = {option for name, *_ in named.values() for option in method_of(name, {}).options}
    settings = []
    for text, (name, own, form) in named.items():
        for k, policy in sorted(policies.items()):
            for option in policy.options:
                if option not in taken:
                    raise UnknownNameError("option", option, sorted(taken), "any of the methods")
            options = {key: value for key, value in policy.options.items() if key in METHODS[name].options} | own
            method_of(name, options)
            settings.append(Setting(text, k, replace(_shown(policy, form), method=name, options=options)))
    return tuple(settings)


def _shown(policy: Policy, form: Mapping[str, str]) -> Policy:
    """The policy with other forms of some columns, each instead of the hierarchy that the column has otherwise."""
    taxonomies = {column: tree for column, tree in policy.taxonomies.items() if column not in form}
    return replace(policy, form={**policy.form, **form}, taxonomies=taxonomies)


def _method_options(text: str) -> tuple[str, dict[str, Any], Mapping[str, str]]:
    """The name, the options and the forms of a method that is written as 'cover:objective=dm:form=age=mean:5'."""
    name, *parts = re.split(":(?=[^:=]*=)", text)
    pairs = [part.partition("=") for part in parts]
    if ":" in name or not all(option for option, _, _ in pairs):
        raise PolicyError(f"A method with options must look like cover:objective=dm:rounds=3. Got '{text}'.")
    known = method_of(name, {}).options
    options = {option.strip().replace("-", "_"): value for option, _, value in pairs}
    form = OPTIONS["form"].kind.parse_each([value for option, _, value in pairs if option.strip() == "form"])
    OPTIONS["form"].check("form", form)
    options.pop("form", None)
    typed = {each: known[each].typed(value) if each in known else value for each, value in options.items()}
    return name, typed, form


def comparison_of(
    source: Source,
    settings: Sequence[Setting],
    *,
    design: TrialDesign | None = None,
    attacked: bool = False,
    dialect: Mapping[str, Any] | None = None,
    log: Path | None = None,
    time_limit: float | None = None,
    again: bool = False,
    run: Run | None = None,
    meanwhile: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Run settings one after another; `meanwhile` is given what is finished after each."""
    settings[0].policy.check_columns(source.columns, source.name)
    if time_limit is not None and not time_limit > 0:
        raise PolicyError(f"The 'time_limit_per_run' parameter must be a number above 0. Got {time_limit!r}.")
    kept, finished = RunLog(log), 0
    fingerprint = source.fingerprint()
    facts: dict[str, Any] = {"attacked": True} if attacked else {}
    facts |= {"input": fingerprint, "dialect": dict(dialect or {}), "trial": design and design.facts()}
    run = run or Run()
    jobs = Jobs(source, design, run, attacked)
    runs = []
    for finished, setting in enumerate(settings):
        key = key_of(setting.policy, **facts)
        known = kept.runs.get(key)
        if again or known is None or not known.is_final(time_limit):
            job = jobs.of(setting.policy)
            run.stage(f"{setting.method} k={setting.k}")
            run.amount(finished, len(settings), "runs")
            ended = answers(job, time_limit)
            known = SettingRun(key, setting.method, setting.k, setting.policy.to_json(), **ended, time_limit=time_limit)
            kept.add(known)
        runs.append(replace(known, method=setting.method))  # as it is written now
        if meanwhile is not None:
            meanwhile(Comparison(source.name, fingerprint, tuple(runs)))
    run.amount(len(settings), len(settings), "runs")
    return Comparison(source.name, fingerprint, tuple(runs))
