"""The template of each body: its headings and what stands under them, with the texts that it follows.

The headings follow the order of the texts; the wording is incrowd's own, and no pack says that a rule or a law is met.
Another version of a template has another number, so that two packs with one number have the same headings.
"""

from __future__ import annotations

from collections.abc import Mapping

from incrowd.errors import UnknownNameError
from incrowd.report.packs.blocks import (
    approval,
    ask,
    attackers,
    attacks,
    blank,
    features,
    limits,
    method,
    passing,
    promises,
    scope,
    shared,
    techniques,
    threshold,
    utility,
)
from incrowd.report.packs.pack import Pack, Section

_EMA = Pack(
    "ema",
    1,
    (
        "European Medicines Agency, External guidance on the implementation of Policy 0070, EMA/90915/2016, chapter 3",
        "Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216)",
    ),
    "The sections are the steps of the anonymisation process that the guidance asks to report on.",
    (
        Section("1. Data and approach", (scope, blank("Documents", "The product, procedure and studies."))),
        Section("2. Direct identifiers and quasi-identifiers", (techniques, passing)),
        Section("3. Adversaries and plausible attacks", (ask("recipient", "motives", "other_data"), attacks)),
        Section("4. Data utility", (ask("purpose"), utility)),
        Section("5. Threshold of the re-identification risk", (threshold,)),
        Section("6. Re-identification risk that was found", (promises, attackers, shared)),
        Section("7. Anonymisation methodology", (method, limits)),
        Section("8. Approval", (approval,)),
    ),
)
_HIPAA = Pack(
    "hipaa",
    1,
    (
        "45 CFR 164.514(b)(1), Privacy Rule: the expert determination",
        "US Department of Health and Human Services, Guidance regarding methods for de-identification of protected "
        "health information, 26 November 2012",
    ),
    "The sections are what the rule asks the expert to know, to apply, to determine and to document.",
    (
        Section("1. The expert", (ask("expert"), blank("Independence", "The expert's relation to the organization."))),
        Section(
            "2. The information and its anticipated recipients", (scope, ask("recipient", "purpose", "environment"))
        ),
        Section("3. Features, by the principles of the guidance", (features,)),
        Section("4. Other information that is reasonably available", (ask("other_data", "earlier_releases"), passing)),
        Section("5. Methods that were applied", (techniques, method)),
        Section("6. The level of risk", (threshold,)),
        Section("7. Results: the risk that was found", (promises, attackers, shared, attacks)),
        Section("8. Mitigation and conditions", (ask("controls", "review"), limits)),
        Section(
            "9. Determination",
            (blank("Determination", "Whether the risk is very small is for the expert to say."), approval),
        ),
    ),
)
_ISO = Pack(
    "iso27559",
    1,
    ("ISO/IEC 27559:2022, Privacy enhancing data de-identification framework",),
    "The sections have the numbers of the clauses that they are about.",
    (
        Section("6.2 Threat modelling", (ask("recipient", "environment", "controls", "motives"),)),
        Section(
            "6.3 Transparency and impact", (ask("purpose", "harm"), blank("Transparency", "What people were told."))
        ),
        Section("7.2 Data features", (scope, techniques, passing)),
        Section("7.3 Attack modelling", (ask("other_data", "earlier_releases"), threshold)),
        Section("8.2 Assessing identifiability", (promises, attackers, shared, attacks)),
        Section("8.3 Mitigation", (method, utility, limits)),
        Section("9.2 Governance before data are made available", (approval,)),
        Section("9.3 and 9.4 Governance afterwards, and incidents", (ask("review"),)),
    ),
)
_GDPR = Pack(
    "gdpr",
    1,
    (
        "Regulation (EU) 2016/679 (GDPR), recital 26",
        "Article 29 Working Party, Opinion 05/2014 on anonymisation techniques (WP216)",
        "UK Information Commissioner's Office, Anonymisation guidance: the motivated intruder test",
    ),
    "The sections are the three criteria of the opinion, and what recital 26 and the motivated intruder ask about.",
    (
        Section("1. The data, and what was done with them", (scope, techniques, method)),
        Section("2. Singling out: can a record of a person be isolated?", (threshold, attackers)),
        Section("3. Linkability: can records be linked?", (passing, ask("other_data", "earlier_releases"))),
        Section("4. Inference: can a value be deduced?", (promises, shared)),
        Section("5. The motivated intruder", (ask("motives"), attacks)),
        Section(
            "6. Means that are reasonably likely to be used", (ask("recipient", "environment", "controls", "harm"),)
        ),
        Section("7. What the release is still good for", (ask("purpose"), utility)),
        Section("8. Residual risk and review", (limits, ask("review"))),
        Section("9. Approval", (approval,)),
    ),
)
_TEHDAS = Pack(
    "tehdas",
    1,
    (
        "Regulation (EU) 2025/327 (European Health Data Space), article 73",
        "TEHDAS2, D7.1 Guideline on how to use data in a secure processing environment, doi:10.5281/zenodo.20157049",
    ),
    "The sections are what an output checker has to see before a result leaves a secure processing environment.",
    (
        Section(
            "1. Permit and purpose", (blank("Data permit", "Its number and holder."), ask("purpose", "environment"))
        ),
        Section("2. The output", (scope, ask("recipient"))),
        Section("3. Data minimisation", (techniques, passing)),
        Section("4. Anonymisation", (method, threshold, promises)),
        Section("5. Disclosure checks", (attackers, shared, attacks)),
        Section("6. Earlier outputs and other data", (ask("earlier_releases", "other_data"), limits)),
        Section("7. Conditions and review", (ask("controls", "review"),)),
        Section("8. Decision of the output checker", (blank("Decision", "For the output checker."), approval)),
    ),
)
REGISTRY: Mapping[str, Pack] = {pack.name: pack for pack in (_EMA, _HIPAA, _ISO, _GDPR, _TEHDAS)}


def pack_of(name: str) -> Pack:
    """The template with a name.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in REGISTRY:
        raise UnknownNameError("pack", name, REGISTRY)
    return REGISTRY[name]
