"""What names of columns suggest. Names help, values decide; but what is called a surname or an SSN always is one."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator


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
# What a column holds that is called so. A name with more words has these as one of them, or as two or three in a row.
CALLED: dict[str, frozenset[str]] = {
    "name": _set(
        """
        firstname lastname middlename secondname surname forename givenname familyname maidenname birthname fullname
        legalname nickname initials patientname personname customername clientname employeename membername studentname
        username userlogin loginname contactname mothername mothersname fathername fathersname spousename parentname
        childname namefirst namelast vorname vornamen nachname nachnamen familienname geburtsname rufname patientenname
        prenom prenoms nomdefamille nomcomplet nombrecompleto apellido apellidos primerapellido cognome nomecompleto
        sobrenome apelido voornaam achternaam fornavn etternavn efternavn fornamn efternamn imie nazwisko
        """
    ),
    "id": _set(
        """
        ssn socialsecurity socialinsurance nationalinsurance nationalid nationalnumber nino nhsnumber nhsno mrn
        medicalrecord medrec recordnumber recordno healthcard healthnumber patientid patientno
        patientnumber patientnr personid personno personnumber personnr subjectid participantid respondentid caseid
        casenumber caseno customerid customernumber customerno clientid clientnumber memberid membernumber
        beneficiaryid employeeid employeenumber employeeno staffid studentid studentnumber pupilid userid accountid
        accountnumber accountno accountnr policynumber policyno insurancenumber insuranceid cardnumber
        iban passport passportnumber driverlicense driverslicense driverlicence driverslicence driverid licenseplate
        licenceplate numberplate taxid taxnumber personnummer personennummer fodselsnummer cpr bsn cpf curp
        dni codicefiscale aadhaar aadhar pesel steuerid steuernummer sozialversicherungsnummer versichertennummer
        kundennummer kontonummer patientennummer patientenid fallnummer personalnummer ausweisnummer numerodesecu
        imei deviceid
        """
    ),
    "e-mail": _set("email emails emailaddress mailaddress eml courriel correoelectronico"),
    "phone": _set(
        """
        phone phones telephone telephonenumber phonenumber phoneno mobilenumber mobilephone cellphone cellnumber fax
        faxnumber telefon telefonnummer handynummer handy telefono telefone
        """
    ),
    "address": _set(
        """
        address addresses homeaddress streetaddress postaladdress address1 address2 addressline adresse anschrift
        wohnadresse direccion domicilio indirizzo endereco ipaddress macaddress
        """
    ),
    "URL": _set("url urls website homepage weblink webaddress"),
}
_CALLED_ALONE = {  # as the whole name only: parts of other names say something else
    "name": _set("name names nom noms nome nombre naam namn navn"),
    "id": _set("id uid pid uuid guid nhs nin sin tin nif nie person patient"),
    "e-mail": _set("mail mails"),
    "phone": _set("tel mobile cell"),
}
FLAGS = _set("yes no y n true false t f x 0 1 2 0.0 1.0 none ja nein oui non si")  # whether there is one
_NOT_OF_PEOPLE = _set(
    """
        product item file brand company hospital school street city country test drug column
        """
)


def words_of(name: str) -> tuple[str, ...]:
    """The words of the name of a column, in lower case: patientID and patient-id are patient and id."""
    plain = "".join(sign for sign in unicodedata.normalize("NFD", name) if not unicodedata.combining(sign))
    apart = re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", plain)
    return tuple(re.findall(r"[a-z]+|icd10|[0-9]+", apart.lower().replace("icd-10", "icd10")))


def suggests(name: str, hint: str) -> bool:
    """Whether the name of a column suggests something; see `HINTS`."""
    words = words_of(name)
    if hint == "id" and "of" in words:  # the number of something is no number of a person
        return False
    if hint == "name" and _NOT_OF_PEOPLE & set(words):
        return False
    if hint == "age" and len(words) > 2:
        return False
    if hint == "target":  # credit may be one, credit history is none
        return "".join(words) in HINTS[hint] or bool({"target", "label", "outcome"} & {*words[-1:]})
    return bool(HINTS[hint] & {"".join(words), *_in_a_row(words, 2)})


def called(name: str) -> str | None:
    """What a column holds by its name, whatever its values are: a kind of `CALLED`, None if it is not called so."""
    words = words_of(name)
    parts, whole = {*_in_a_row(words, 3)}, "".join(words)
    for kind, known in CALLED.items():
        if known & parts or whole in _CALLED_ALONE.get(kind, ()):
            return kind
    return None


def _in_a_row(words: tuple[str, ...], most: int) -> Iterator[str]:
    """Single words, and up to so many that stand together, as one word."""
    for number in range(1, most + 1):
        yield from ("".join(words[place : place + number]) for place in range(len(words) - number + 1))


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
