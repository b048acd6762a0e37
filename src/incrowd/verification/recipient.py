"""What a recipient can check: that a release is the one its certificate is about, and that every claim in it holds.

Everything is counted anew from the released rows; nothing of the certificate is believed. What the rows alone cannot
show, such as how many people stand behind them where the column that tells is dropped, is said to be so.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from incrowd.display import Rows, Tabular
from incrowd.errors import NotAnonymousError, PolicyError, UnknownNameError, many
from incrowd.formats.reader_options import ReaderOptions
from incrowd.formats.registry import open_source
from incrowd.policy.making import make_policy, quasi_identifiers_of
from incrowd.population.table import open_population
from incrowd.privacy.registry import OF_POPULATION, RISK_OPTIONS
from incrowd.run import Run
from incrowd.settled import Settled
from incrowd.verification.certificate import Certificate, Commitment
from incrowd.verification.promises import witness_of
from incrowd.verification.verdict import Verification
from incrowd.verification.verify import recount, recount_in_population
from incrowd.verification.witness import Asked, Witness

if TYPE_CHECKING:
    from incrowd.formats.sources import Source

_TO_TELL = "cannot be checked from the released rows alone"


@dataclass(frozen=True)
class Claim:
    """One claim of a certificate.

    Args:
        holds: Whether it is so; None if the released rows alone cannot show it.
    """

    claim: str
    holds: bool | None
    found: str


@dataclass(frozen=True, repr=False)
class CertificateCheck(Tabular):
    """What was found of every claim of a certificate."""

    claims: tuple[Claim, ...]
    verification: Verification

    @property
    def holds(self) -> bool:
        """Whether no claim is false."""
        return all(claim.holds is not False for claim in self.claims)

    def headline(self) -> str:
        false = sum(claim.holds is False for claim in self.claims)
        unknown = sum(claim.holds is None for claim in self.claims)
        held = len(self.claims) - false - unknown
        others = {f"{false} do not hold": false, f"{unknown} cannot be checked by the rows alone": unknown}
        rest = [text for text, number in others.items() if number]
        verdict = ", ".join([f"{held} hold", *rest]) if rest else "all hold"
        return f"certificate of {many(len(self.claims), 'claim')}: {verdict}"

    def to_rows(self) -> Rows:
        """What was found of each claim, a row each."""
        return [asdict(claim) for claim in self.claims]

    def require(self) -> CertificateCheck:
        """Itself, if it holds.

        Raises:
            NotAnonymousError: A claim is false.
        """
        for claim in self.claims:
            if claim.holds is False:
                raise NotAnonymousError(f"the certificate does not hold: {claim.claim}: {claim.found}")
        return self

    def to_json(self) -> dict[str, Any]:
        """As JSON-able data."""
        claims = [asdict(claim) for claim in self.claims]
        return {"holds": self.holds, "claims": claims, "verification": self.verification.to_json()}


def check_certificate(
    certificate: Certificate | str | Path,
    data: Any,
    *,
    taxonomies: Any = None,
    population_table: Any = None,
    recoding: Any = None,
    original: Any = None,
    commitment: Commitment | str | Path | None = None,
    run: Run | None = None,
    **reading: Unpack[ReaderOptions],
) -> CertificateCheck:
    """Check a release against its certificate.

    Args:
        certificate: The certificate, or its file.
        data: The release: path of a file, or a pandas, polars or pyarrow table.
        taxonomies: As in `anonymize`, where a claim measures distances in one.
        population_table: The population that claims of k_map and delta_presence are about, for who has it.
        recoding: The recoding of the release or its file, which says what people of the population would be released
            as; without it their values must be written as in the release.
        original: The original table, for who has it and the commitment.
        commitment: The secret half of the commitment to the original, or its file.
        run: Gets the number of rows.
        **reading: How to read a file or a database; see `ReaderOptions`.

    Returns:
        Every claim with what was found. `holds` says whether none is false, `require()` raises if one is.

    Raises:
        DataError: The certificate cannot be read or was changed, or the release cannot be read.

    Example:
        >>> import incrowd
        >>> people = incrowd.datasets.german()
        >>> release = incrowd.anonymize(people, quasi_identifiers=["age", "job"], k=5, keep=["credit-amount"])
        >>> incrowd.check_certificate(release.certificate, release.data).holds
        True
    """
    if not isinstance(certificate, Certificate):
        certificate = Certificate.read(certificate)
    source = open_source(data, **reading)
    claims = [_same_file(certificate, source), *_columns(certificate, source)]
    settings, untold = _countable(certificate.policy, taxonomies, population_table)
    verification = _recounted(source, settings, recoding, run or Run())
    claims += [*_counts(certificate.verification, verification), *untold]
    if commitment is not None:
        claims.append(_committed(certificate, commitment, original))
    return CertificateCheck(tuple(claims), verification)


def _same_file(certificate: Certificate, source: Source) -> Claim:
    same = source.fingerprint() == certificate.output
    found = "it is that one" if same else "it is another one, or was changed: its digest differs"
    return Claim("the release is the one that was certified", same, found)


def _columns(certificate: Certificate, source: Source) -> Iterator[Claim]:
    """No column that was to be dropped is there."""
    identifiers, unit = certificate.policy.get("identifiers", ()), certificate.policy.get("unit")
    dropped = list(dict.fromkeys([*identifiers, *filter(None, [unit])]))  # a unit may be named as an identifier too
    if dropped:
        left = [name for name in dropped if name in source.columns]
        found = f"still there: {', '.join(left)}" if left else "they are not there"
        yield Claim(f"these columns were dropped: {', '.join(dropped)}", not left, found)


def _columns_of(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns that had a taxonomy, as far as the certificate says so in the usual way."""
    named = settings.get("taxonomies")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list | tuple) else ()


def _countable(
    settings: Mapping[str, Any], taxonomies: Any, population_table: Any
) -> tuple[dict[str, Any], list[Claim]]:
    untold = []
    protections = {column: dict(given) for column, given in settings.get("protections", {}).items()}
    for column, given in protections.items():
        in_tree = given.get("t_distance") or ("hierarchical" if column in _columns_of(settings) else "equal")
        if "t" in given and in_tree == "hierarchical" and column not in (taxonomies or {}):
            untold.append(Claim(f"t={given.pop('t')} of {column}, measured in its taxonomy", None, _TO_TELL))
            given.pop("t_distance", None)
    if settings.get("unit"):
        untold.append(Claim(f"k counts people, told apart by {settings['unit']}", None, _TO_TELL))
    against = {name: settings[name] for name in OF_POPULATION if name in settings}
    named = "population_table" in settings  # without one, k-map is estimated, which the rows show
    if population_table is not None and not (named and against):
        raise PolicyError("the certificate claims nothing against a population; leave out population_table")
    if named and population_table is None:
        for name, value in against.items():
            untold.append(Claim(f"{name} = {value} against {settings['population_table']}", None, _TO_TELL))
        against = {}
    elif named:
        against["population_table"] = population_table
    against |= {name: settings[name] for name in RISK_OPTIONS if name in settings}
    used = {column: tree for column, tree in (taxonomies or {}).items() if "t" in protections.get(column, ())}
    asked = {"quasi_identifiers": settings["quasi_identifiers"], "sensitive": protections, "taxonomies": used}
    types = {column: kind for column, kind in settings.get("types", {}).items() if column in protections}
    return {**asked, "types": types, "missing_values": settings.get("missing_values", ()), **against}, untold


def _recounted(source: Source, settings: dict[str, Any], recoding: Any, run: Run) -> Verification:
    quasi_identifiers = quasi_identifiers_of(settings["quasi_identifiers"])
    if (
        any(qid.k > 1 for qid in quasi_identifiers)
        or any(settings["sensitive"].values())
        or any(name in settings for name in ("population_table", "k_map", *RISK_OPTIONS))
    ):
        policy = make_policy(**settings)
        policy.check_columns(source.columns, source.name)
        policy = Settled(policy, population=open_population(policy)).policy
        if policy.population_table is not None:
            return recount_in_population(source, policy, recoding, run)
        return recount(source, witness_of(policy), run)
    for name in (name for qid in quasi_identifiers for name in qid.attributes):
        if name not in source.columns:
            raise UnknownNameError("column", name, source.columns, source.name)
    nothing = [
        Asked(qid.attributes, qid.k, ()) for qid in quasi_identifiers
    ]  # all that is claimed needs more than rows
    return recount(source, Witness(nothing), run)


def _counts(certified: Mapping[str, Any], verification: Verification) -> Iterator[Claim]:
    """What was counted against what the certificate says: rows, classes, and how well each is protected."""
    now = json.loads(json.dumps(verification.to_json()))
    yield _count("records", certified["records"], now["records"])
    if len(certified["quasi_identifiers"]) != len(now["quasi_identifiers"]):
        yield Claim("the certificate counts each quasi-identifier of its policy", False, "it does not")
    for before, after in zip(certified["quasi_identifiers"], now["quasi_identifiers"], strict=False):
        names = ", ".join(after["attributes"])
        yield _count(f"classes of {names}", before["classes"], after["classes"])
        yield _count(f"size of the smallest class of {names}", before["anonymity"], after["anonymity"])
        told = {(model["name"], model["column"]): model for model in before["models"]}
        for model in after["models"]:
            same = told.get((model["name"], model["column"]))
            reached = "no level at all" if model["worst"] is None else f"{model['worst']:g}"
            worst = f"the worst class reaches {reached}"
            yield Claim(f"{model['model']} holds for {names}", model["holds"], worst)
            if same is not None and model["worst"] is not None:
                yield _count(f"{model['model']} in the worst class of {names}", same["worst"], model["worst"])


def _count(what: str, certified: float, counted: float) -> Claim:
    close = abs(certified - counted) <= 1e-9 * max(1.0, abs(certified))  # sums of floats may differ in their last digit
    return Claim(f"{what}: {certified:,}", close, f"counted {counted:,}")


def _committed(certificate: Certificate, commitment: Commitment | str | Path, original: Any) -> Claim:
    if not isinstance(commitment, Commitment):
        commitment = Commitment.read(commitment)
    digest = commitment.digest if original is None else open_source(original).fingerprint()
    same = certificate.commits_to(digest, commitment.salt)
    return Claim("it was made from this original", same, "it was" if same else "it was made from another one")
