"""What `incrowd attack` does: from what was typed to a table of attacks, or to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from incrowd.cli.groups import declared, option, path_option
from incrowd.cli.messages import running, user_errors
from incrowd.cli.options import CsvOptions, DeclaredOptions, Input, Overwrite, PolicyFile, policy_of
from incrowd.cli.report import ResultReport
from incrowd.cli.voice import show_result
from incrowd.errors import PolicyError
from incrowd.options import FILES
from incrowd.policy.options import ATTACK


@dataclass(frozen=True, kw_only=True)
class AttackOptions(DeclaredOptions, CsvOptions):
    """What an attacker may know, and what is played."""

    policy: PolicyFile = None
    played: Mapping[str, Any] = field(default_factory=dict)  # what was typed of the options of attacks

    names: ClassVar[tuple[str, ...]] = (
        "quasi_identifiers",
        "k",
        "identifiers",
        "unit",
        "sensitive",
        "missing_values",
        "types",
        "taxonomies",
        "taxonomy",
    )

    @classmethod
    def parameters(cls) -> dict[str, Any]:
        own = {name: keyword for name, keyword in super().parameters().items() if name != "played"}
        return own | {name: declared(name, about) for name, about in ATTACK.items()}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        played = {name: given[name] for name in ATTACK if given[name] is not None}
        return super().of({**{name: value for name, value in given.items() if name not in ATTACK}, "played": played})

    def of_attacks(self) -> dict[str, Any]:
        return {name: ATTACK[name].typed(text) for name, text in self.played.items()}


def attack(
    release: Input,
    options: AttackOptions,
    *,
    original: Annotated[Path, path_option("The table that the release was made from.", section=FILES)],
    control: Annotated[
        Path | None, path_option("Other people of the same population, not in the table.", section=FILES)
    ] = None,
    codebook: Annotated[
        Path | None,
        path_option("What labels stand for: a .recoding.json, or CSV with column,label,value.", section=FILES),
    ] = None,
    also: Annotated[
        list[Path] | None, path_option("Another release about these people; may be repeated.", section=FILES)
    ] = None,
    page: ResultReport,
    overwrite: Overwrite = False,
    variants: Annotated[bool, option("List every variant of every attack.", "--variants", section=FILES)] = False,
) -> None:
    """Play attackers against a release, of incrowd or of any other tool; exit code 3 above --max-excess.

    A success counts only above a control. A low score is no proof: what was not tried is listed.

    incrowd attack release.csv --original people.csv --policy release.toml
    """
    with user_errors():
        from incrowd.attacks.attack import Settings, played, problem_again
        from incrowd.attacks.problem import problem_of
        from incrowd.formats.registry import open_as_release, open_source
        from incrowd.release.files import ReleaseFiles
        from incrowd.release.release import made_again

        asked = options.settings()
        if options.policy is None:
            if "quasi_identifiers" not in asked:
                raise PolicyError("say what an attacker may know: give --qi with columns, or a --policy file")
            asked.setdefault("k", 2)
        policy, dialect = policy_of(options.policy, asked, options.dialect())
        settings = Settings.of(options.policy, options.of_attacks())
        page.check(release, overwrite=overwrite)
        table = open_source(original, **dialect)
        known = options.policy is not None and ReleaseFiles.of(release).certificate.exists()  # of this release
        with running() as run:
            problem = problem_of(
                open_as_release(release, dialect),
                table,
                policy,
                control=None if control is None else open_source(control, **dialect),
                others=[open_as_release(each, dialect) for each in also or ()],
                codebook=codebook,
                trials=settings.trials,
                run=run,
            )
            problem = problem_again(problem, table, made_again(policy) if known else None, settings.seed)
            found = played(problem, settings, run)
        page.write(found, overwrite=overwrite)
        show_result(found, variants=variants)
        found.require()
