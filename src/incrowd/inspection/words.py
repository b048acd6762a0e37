"""What names of columns suggest. Names help, values decide: nothing here is taken without a look at the values."""

from __future__ import annotations

import re
from itertools import pairwise


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words of column names in lower case; names are split where letters meet digits, signs or capitals.
HINTS: dict[str, frozenset[str]] = {
    "name": _set(
        """
        name names fullname firstname lastname surname forename givenname familyname maidenname vorname nachname
        prenom nombre apellido patientname customername username
        """
    ),
    "id": _set(
        """
        id ids identifier uid uuid guid ssn sin nin mrn nhs pid key no nr num number case account acct iban
        passport licence license registration reference ref serial record index row unnamed ticket policy
        """
    ),
    "e-mail": _set("email mail"),
    "phone": _set("phone telephone tel mobile cell fax handy telefon"),
    "birth": _set("dob birth birthdate birthday born geburtsdatum geburtstag"),
    "zip": _set("zip zipcode postcode postal postalcode plz postleitzahl"),
    "age": _set("age alter years"),
    "year": _set("year yob jahr"),
    "country": _set("country nation nationality citizenship native land origin"),
    "state": _set("state states province county"),
    "diagnosis": _set("icd icd10 diagnosis diagnoses diag dx disease cause"),
    "code": _set(
        """
        naics nace sic isco soc isic noc occupation industry occ ind job sector
        """
    ),
    "sensitive": _set(
        """
        diagnosis diagnoses diag dx icd icd10 disease illness condition symptom hiv cancer treatment therapy
        medication drug test result salary income wage wages earnings religion politics party vote sexual
        orientation conviction offense offence charge crime recid recidivism debt death died mortality iq score
        risk grade
        """
    ),
    "person": _set(
        """
        age sex gender zip zipcode postcode city town state county region province country nationality
        citizenship race ethnicity ethnic marital married civil education school degree occupation job profession
        work workclass employment employer industry birth dob born native language household housing children
        family dependents height weight address street place area location residence foreign military veteran
        relationship
        """
    ),
    "target": _set(
        """
        target label class outcome response y income credit default churn survived readmitted approved success
        diagnosis recid died mortality attrition fraud
        """
    ),
}
_NOT_OF_PEOPLE = _set(
    """
        product item file brand company hospital school street city country test drug column
        """
)


def words_of(name: str) -> tuple[str, ...]:
    """The words of the name of a column, in lower case: patientID and patient-id are patient and id."""
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", name)
    return tuple(re.findall(r"[a-z]+|icd10|[0-9]+", apart.lower().replace("icd-10", "icd10")))


def suggests(name: str, hint: str) -> bool:
    """Whether the name of a column suggests something; see `HINTS`."""
    words = words_of(name)
    joined = {"".join(words), *("".join(pair) for pair in pairwise(words))}
    if hint == "id" and "of" in words:  # the number of something is no number of a person
        return False
    if hint == "name" and _NOT_OF_PEOPLE & set(words):
        return False
    if hint == "age" and len(words) > 2:
        return False
    if hint == "target":  # credit may be one, credit history is none
        return "".join(words) in HINTS[hint] or bool({"target", "label", "outcome"} & {*words[-1:]})
    return bool(HINTS[hint] & ({*words} | joined))


FIRST_NAMES = _set(
    """
        james john robert michael william david richard joseph thomas charles christopher daniel matthew anthony
        mark donald steven paul andrew joshua kenneth kevin brian george timothy ronald edward jason jeffrey ryan
        jacob gary nicholas eric jonathan stephen larry justin scott brandon benjamin samuel gregory alexander
        frank patrick raymond jack dennis jerry tyler aaron jose adam nathan henry douglas zachary peter kyle
        noah ethan jeremy walter christian keith roger terry austin sean gerald carl harold dylan arthur lawrence
        jordan jesse bryan billy bruce gabriel joe logan alan juan albert willie elijah wayne randy vincent mason
        roy ralph bobby russell bradley philip eugene louis oliver harry leo oscar mary patricia jennifer linda
        elizabeth barbara susan jessica sarah karen lisa nancy betty sandra margaret ashley kimberly emily donna
        michelle carol amanda melissa deborah stephanie rebecca sharon laura cynthia dorothy amy kathleen angela
        shirley brenda emma anna pamela nicole samantha katherine christine helen debra rachel carolyn janet
        maria catherine heather diane olivia julie joyce victoria ruth virginia lauren kelly christina joan
        evelyn judith andrea hannah megan cheryl jacqueline martha madison teresa gloria sara janice ann kathryn
        abigail sophia frances jean alice judy isabella julia grace amber denise danielle marilyn beverly
        charlotte natalie theresa diana brittany kayla alexis lori marie sofia mia chloe lucy ella eva zoe jane
        bob tom tim jim ben sam max lena lea leon lukas finn jonas felix hans klaus jurgen wolfgang uwe stefan
        andreas sabine petra monika ursula renate heike birgit anja katrin sven pierre michel philippe alain
        nathalie isabelle sylvie francoise monique luc claire camille antoine mathieu carlos luis jorge pedro
        manuel francisco miguel antonio carmen ana isabel rosa lucia elena pilar marta javier diego giuseppe
        giovanni luigi marco francesco paolo giulia chiara ahmed mohamed mohammed muhammad ali fatima omar hassan
        ibrahim aisha yusuf wei li ming jing yan hiroshi yuki kenji ivan olga natasha sergei dmitri vladimir
        svetlana tatiana piotr jan katarzyna agnieszka lars erik ingrid astrid nils bjorn raj priya amit sunita
        anil
        """
)
