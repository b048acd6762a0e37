"""Words that name people and what is theirs: the one list behind inspection, the check of columns, and safe harbour.

Names of columns help, values decide; but what is called a surname or an SSN always is one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True)
class Words:
    """What a column may be called that holds one kind of thing; in lower case, without accents and signs.

    Args:
        kind: What an inspection calls it.
        certain: Such a column holds it, whatever its values; in a longer name, as one word, or two or three in a row.
        alone: The same, but only as the whole name: parts of other names say something else.
        hints: Such a column may hold it, if its values fit; one word or two in a row.
        safe_harbour: Which of the identifiers in `risk.safe_harbour` it is.
        points: Words that point at that identifier; of `a+b` both must be in the name.
    """

    kind: str
    certain: str = ""
    alone: str = ""
    hints: str = ""
    safe_harbour: str = ""
    points: str = ""


NAMES = (
    Words(
        "name",
        """
        firstname lastname middlename secondname surname forename givenname familyname maidenname birthname fullname
        legalname nickname initials patientname personname customername clientname employeename membername studentname
        username userlogin loginname contactname mothername mothersname fathername fathersname spousename parentname
        childname namefirst namelast vorname vornamen nachname nachnamen familienname geburtsname rufname patientenname
        prenom prenoms nomdefamille nomcomplet nombrecompleto apellido apellidos primerapellido cognome nomecompleto
        sobrenome apelido voornaam achternaam fornavn etternavn efternavn fornamn efternamn imie nazwisko
        """,
        "name names nom noms nome nombre naam namn navn",
        """
        name names fullname firstname lastname surname forename givenname familyname maidenname vorname nachname
        prenom nombre apellido patientname customername username
        """,
        "names",
        "name names",
    ),
    Words(
        "id",
        """
        ssn socialsecurity socialinsurance nationalinsurance nationalid nationalnumber nino nhsnumber nhsno
        personnummer personennummer fodselsnummer cpr bsn cpf curp dni codicefiscale aadhaar aadhar pesel
        sozialversicherungsnummer numerodesecu
        """,
        "nhs nin sin tin nif nie",
        "ssn sin nin nhs",
        "social security",
        "ssn social+security",
    ),
    Words(
        "id",
        """
        mrn medicalrecord medrec recordnumber recordno patientid patientno patientnumber patientnr patientennummer
        patientenid fallnummer
        """,
        "patient",
        "mrn record case",
        "medical records",
        "mrn medical+record patient+id patientid patient+number",
    ),
    Words(
        "id",
        """
        healthcard healthnumber memberid membernumber beneficiaryid policynumber policyno insurancenumber insuranceid
        versichertennummer
        """,
        hints="policy",
        safe_harbour="health plans",
        points="beneficiary member+id policy+number insurance+number",
    ),
    Words(
        "id",
        "accountid accountnumber accountno accountnr cardnumber iban kontonummer",
        hints="account acct iban",
        safe_harbour="accounts",
        points="account iban card+number",
    ),
    Words(
        "id",
        "passport passportnumber driverlicense driverslicense driverlicence driverslicence driverid ausweisnummer",
        hints="passport licence license",
        safe_harbour="licences",
        points="license licence certificate passport",
    ),
    Words("id", "licenseplate licenceplate numberplate", safe_harbour="vehicles", points="vin plate vehicle"),
    Words("id", "imei deviceid", hints="serial", safe_harbour="devices", points="device serial imei mac+address"),
    Words(
        "id",
        """
        personid personno personnumber personnr subjectid participantid respondentid caseid casenumber caseno
        customerid customernumber customerno clientid clientnumber employeeid employeenumber employeeno staffid
        studentid studentnumber pupilid childid kidid respid subjid patid ptid indid idno idnum userid
        taxid taxnumber steuerid steuernummer kundennummer personalnummer
        """,
        "id uid pid uuid guid person",
        """
        id ids identifier uid uuid guid pid key no nr num number registration reference ref index row unnamed ticket
        seqn seqno seq serial rownames recno
        """,
        "codes",
        "id identifier uuid guid key",
    ),
    Words(
        "e-mail",
        "email emails emailaddress mailaddress eml courriel correoelectronico",
        "mail mails",
        "email mail",
        "e-mails",
        "email mail",
    ),
    Words("phone", "fax faxnumber", hints="fax", safe_harbour="faxes", points="fax"),
    Words(
        "phone",
        """
        phone phones telephone telephonenumber phonenumber phoneno mobilenumber mobilephone cellphone cellnumber
        telefon telefonnummer handynummer handy telefono telefone
        """,
        "tel mobile cell",
        "phone telephone tel mobile cell handy telefon",
        "phones",
        "phone telephone mobile tel",
    ),
    Words("address", "ipaddress", safe_harbour="internet", points="ip"),
    Words("address", "macaddress", safe_harbour="devices"),
    Words(
        "address",
        """
        address addresses homeaddress streetaddress postaladdress address1 address2 addressline adresse anschrift
        wohnadresse direccion domicilio indirizzo endereco
        """,
        safe_harbour="places",
        points="address street city town county latitude longitude",
    ),
    Words("URL", "url urls website homepage weblink webaddress", safe_harbour="web", points="url website homepage"),
    Words(
        "birth",
        hints="dob birth birthdate birthday born geburtsdatum geburtstag",
        safe_harbour="dates",
        points="birthday birthdate dob date",
    ),
    Words(
        "zip",
        hints="zip zipcode postcode postal postalcode plz postleitzahl",
        safe_harbour="places",
        points="zip zipcode postcode postal",
    ),
    Words("age", hints="age alter years", safe_harbour="ages", points="age"),
    Words("biometrics", safe_harbour="biometrics", points="fingerprint biometric voiceprint retina iris"),
    Words("pictures", safe_harbour="pictures", points="photo picture portrait image"),
    Words("year", hints="year yob jahr"),
    Words("country", hints="country nation nationality citizenship native land origin"),
    Words("state", hints="state states province county"),
    Words("diagnosis", hints="icd icd10 diagnosis diagnoses diag dx disease cause"),
    Words("code", hints="naics nace sic isco soc isic noc occupation industry occ ind job sector"),
)
_CERTAIN = {word: entry for entry in reversed(NAMES) for word in entry.certain.split()}
_ALONE = {word: entry for entry in reversed(NAMES) for word in entry.alone.split()}
_HINTS = {
    kind: frozenset(word for entry in NAMES if entry.kind == kind for word in entry.hints.split())
    for kind in dict.fromkeys(entry.kind for entry in NAMES)
}
_KINDS = tuple(_HINTS)
_POINTS = tuple(
    (word_set(point.replace("+", " ")), entry.safe_harbour) for entry in NAMES for point in entry.points.split()
)
FLAGS = word_set("yes no y n true false t f x 0 1 2 0.0 1.0 none ja nein oui non si")  # whether there is one
_NOT_OF_PEOPLE = word_set(
    """
    product item file brand company hospital school street city country test drug column ad advert job posting order
    class clinic ward site center centre team store branch region county state incident event trial lab batch sample
    visit encounter admission loan course room teacher doctor physician provider interviewer village cluster
    """
)


def words_of(name: str) -> tuple[str, ...]:
    """The words of the name of a column, in lower case: patientID and patient-id are patient and id."""
    plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", plain)
    return tuple(re.findall(r"[a-z]+|icd10|[0-9]+", apart.lower().replace("icd-10", "icd10")))


def suggests(name: str, kind: str) -> bool:
    """Whether a column may hold something by its name."""
    words = words_of(name)
    if kind == "id" and "of" in words:  # the number of something is no number of a person
        return False
    if kind == "name" and is_of_a_thing(name):
        return False
    if kind == "age" and len(words) > 2:
        return False
    return bool(_HINTS[kind] & {"".join(words), *_in_a_row(words, 2)})


def is_of_a_thing(name: str) -> bool:
    """Whether what a name is a number of is no person: an advertisement, a school, a visit."""
    return bool(_NOT_OF_PEOPLE & set(words_of(name)))


def called(name: str) -> Words | None:
    """What a column holds by its name, whatever its values are; None if the name alone does not say it."""
    words = words_of(name)
    found = [_CERTAIN[part] for part in _in_a_row(words, 3) if part in _CERTAIN]
    if (whole := _ALONE.get("".join(words))) is not None:
        found.append(whole)
    return min(found, key=lambda entry: _KINDS.index(entry.kind), default=None)


def points_at(name: str) -> set[str]:
    """The identifiers of the safe-harbour list that the name of a column points at."""
    words, certain = set(words_of(name)), called(name)
    return {key for point, key in _POINTS if point <= words} | ({certain.safe_harbour} if certain else set())


def _in_a_row(words: tuple[str, ...], most: int) -> Iterator[str]:
    """Single words, and up to this many next to each other, as one word."""
    for number in range(1, most + 1):
        yield from ("".join(words[place : place + number]) for place in range(len(words) - number + 1))


FIRST_NAMES = word_set(
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
