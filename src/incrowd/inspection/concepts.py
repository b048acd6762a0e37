"""What columns of tables about people hold, the words that name it, and the role that it gets: one table.

The first concept fits whose words are in the name of a column, in its label, or in its values; one with two words in
the name goes before any with one. So what is said of a thing goes before the thing: the price of a house is no house.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache

from incrowd.inspection import findings as kinds
from incrowd.inspection.findings import Facts
from incrowd.inspection.words import FLAGS, word_set, words_of

IDENTIFIER, QUASI_IDENTIFIER, SENSITIVE, INSENSITIVE = "identifier", "quasi-identifier", "sensitive", "insensitive"
CERTAINTIES = GUESS, LIKELY, SURE = "guess", "likely", "sure"
HEALTH, LAW, MONEY, BELIEFS, SCHOOL = "health", "law", "money", "beliefs", "school"  # what a whole table may be about
FEW = 20  # values of a category
SEX = "sex or gender, which everybody knows"


@dataclass(frozen=True)
class Concept:
    """Something that columns hold.

    Args:
        role: The role that is proposed.
        reason: What it is, in plain English, with a reason for the role.
        words: Words of its names; `educ*` is the beginning of one, of `a+b` both must be in the name.
        values: Words of its values: it fits, whatever the name is, if most values have one of them.
        field: What a table with several such columns is about.
        test: Whether it fits by what is known of the column, beside the words.
        is_demographic: Whether it is one of the traits by which everybody knows people: age, sex, home, family.
    """

    role: str
    reason: str
    words: str
    values: str = ""
    field: str = ""
    test: Callable[[Facts], bool] = lambda facts: True
    is_demographic: bool = False


def is_flag(facts: Facts) -> bool:
    return facts.distinct <= 2


def is_number(facts: Facts) -> bool:
    return facts.kind in (kinds.WHOLE, kinds.NUMBER)


def is_day(facts: Facts) -> bool:
    """Whether it may be a day that is written as a number."""
    return facts.kind == kinds.WHOLE and facts.distinct > FEW and facts.high - facts.low > 60


def is_letter(facts: Facts) -> bool:
    return facts.kind == kinds.TEXT and all(len(value.strip()) <= 3 and value[:1].isalpha() for value in facts.sample)


def is_whole_word(facts: Facts) -> bool:
    return len(words_of(facts.name)) == 1


CONCEPTS = (
    # of the study, the system or the employer, not of the person
    Concept(
        INSENSITIVE,
        "kept for the study or the system, and known to nobody else",
        """
        fnlwgt fnlwt pweight sample+weight sampling+weight survey+weight person+weight replicate cluster strata stratum
        psu imput* verified verification version orderset order+set listing disburs* batch wave round protocol censor*
        cens followup follow follow+up fu req requir* eligib* elig attend* att+vis miss+vis paperless interviewer
        trainee test+id kit software training+times mode+collection contractor equal+opp
        """,
    ),
    Concept(
        INSENSITIVE,
        "a length of time that was measured or agreed, which outsiders do not know",
        """
        tat turnaround elapsed duration durat* latency length+stay los time+to days+to days+until survival+time futime
        survtime waiting processing response+time time+tx minutes seconds term hours+tv
        """,
    ),
    Concept(
        INSENSITIVE,
        "a length of time that was measured",
        "time",
        test=lambda facts: is_number(facts) and is_whole_word(facts),
    ),
    Concept(
        QUASI_IDENTIFIER,
        "a job, which others know",
        "engineer* scientist* developer* administrator* specialist* designer* programm* analyst* consultant*",
    ),
    # what would hurt
    Concept(
        SENSITIVE,
        "about arrests, convictions or the police",
        """
        arrest* convict* felon* crime criminal* offens* offenc* prison* jail* sentenc* incarc* parole* probation* recid*
        priors prior+conv violation* citation* search+person search+vehicle searched summons weapon* guilty misdemean*
        bail custody victim* gang served* rearrest* released
        """,
        field=LAW,
    ),
    Concept(
        SENSITIVE,
        "about alcohol or drugs",
        """
        alcohol* alc drink* drks drunk* drugs drug+add drug+use drug+risk substance* addict* cocaine heroin opioid*
        opiate* marijuana cannabis overdos* detox* narcotic* sobriety binge
        """,
        field=HEALTH,
    ),
    Concept(
        SENSITIVE,
        "a habit that others may judge: smoking",
        "smok* tobacco tob cig cigar* cigs nicotine vaping",
        "smoker smokers nonsmoker smokes",
        HEALTH,
    ),
    Concept(
        SENSITIVE,
        "about sexuality, pregnancy or its loss",
        """
        sexual* sex+risk orientation lgbt* gay lesbian homosex* contracep* birth+control birthcontrol abort* spont+ab
        induced+ab ptb miscarr* stillb* std sti condom condoms intercourse fertil* infertil* ivf affair* pregnan* preg
        gravid* parity birth+outcome lactat* menopaus* menstru*
        """,
        field=HEALTH,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "the day of an event that others may know of, as a number",
        "death died diag diagnos* admit* admission* discharg* birth born enrol* day",
        test=is_day,
    ),
    Concept(
        SENSITIVE,
        "about an illness, an injury or a state of health",
        """
        hiv aids hepatit* tuberc* tb syphil* gonorr* chlamyd* herpes hpv covid* sars infect* sepsis strep* uti bacter*
        vagin* bact+vag bac+vag diagnos* diag dx icd icd9 icd10 disease* illness* syndrom* disorder* comorbid* charlson
        cancer* tumor* tumour* carcinom* leukem* leukaem* lymphom* melanom* malign* metast* diabet* diab hypertens* htn
        stroke* asthma copd angina infarct* cardio* coronar* chd cvd epilep* seizur* dement* alzheim* parkinson*
        arthrit* anemi* anaemi* pancreatit* cirrhos* eclamp* preeclamp* oligo* polyhyd* anomal* congenit* defect* injur*
        inj trauma* fractur* disab* handicap* impair* limitation* symptom* pain bleed* hemorrh* haemorrh* complicat*
        adverse sae chronic* emergenc* concuss* conscious* amnes* bronch* colit* polio hosp hbp gcs recurren* relaps*
        remission mgus allerg* obes* pneumon* fever vomit* nausea headache migraine* ulcer* edema oedema gout hernia
        hernias apnea chapter hospitaliz* hospitalis* health* sick* wellbeing
        """,
        "positive negative",
        HEALTH,
    ),
    Concept(SENSITIVE, "about what somebody cannot do", "limit limits limited limitation*", field=HEALTH, test=is_flag),
    Concept(SENSITIVE, "a history or a record of somebody", "hist history hx record records"),
    Concept(
        SENSITIVE,
        "about mental health",
        "depress* anxi* suicid* psych* mental* ptsd schizo* bipolar adhd autis* cesd phq* gad7 self+harm loneli* mcs",
        field=HEALTH,
    ),
    Concept(
        SENSITIVE,
        "whether and how somebody died",
        "death* dth dead died mortal* deceas* alive surviv* vital",
        "alive dead died deceased survived",
        HEALTH,
    ),
    Concept(
        SENSITIVE,
        "about debts, property or hardship",
        """
        debt* delinq* bankrupt* lien* default* overdue past+due late collection* arrears owe* owing foreclos* evict*
        welfare assistance asst* benefits foodstamp* food+stamp* credit+history credit+score credit+rating fico failed
        dti saving* wealth asset* networth property capital+gain capital+loss loan+status derog* checking
        payment+history public+record
        """,
        field=MONEY,
    ),
    Concept(
        SENSITIVE,
        "what somebody earns",
        """
        income* inc salar* wage* earning* earns pay payroll compensat* bonus* remunerat* hourly+rate daily+rate
        monthly+rate rinc realinc stipend* pension* poverty salary+hike stock+option* tax taxes
        """,
        field=MONEY,
    ),
    Concept(
        SENSITIVE,
        "how somebody is insured, which tells of money and health",
        "insur* uninsur* payor* payer* medicaid medicare",
        "medicaid medicare uninsured",
    ),
    Concept(
        SENSITIVE,
        "about religion or politics",
        """
        relig* church* pray* faith god bible denom* bornagain born+again catholic* protest* jewish muslim* atheis*
        politic* party* vote* voting elect* ideolog* ideo partisan* republic* democrat* liberal* conserv* racis* prejud*
        attitud* opinion* agree* trust* fear* angry anger
        """,
        "catholic protestant jewish muslim republican democrat conservative liberal labour",
        BELIEFS,
    ),
    Concept(
        SENSITIVE,
        "how somebody is judged or feels",
        """
        satisf* happy happin* rating* rated evaluat* perform* involvement engagement stress* burnout morale complain*
        disciplin* callback* worklife work+life quality approv* reject* deny denied denial*
        """,
    ),
    Concept(SENSITIVE, "a grade or a credit class", "grade subgrade", field=MONEY, test=is_letter),
    Concept(
        SENSITIVE,
        "a score, a risk or the result of a test",
        """
        score* index indx iq exam exams gpa marks math maths mathem* arith* reading verbal percentile pretest posttest
        result results risk* grade+point sat lang+post lang+pre aptitude test+result
        """,
        field=SCHOOL,
    ),
    # what the data holder measured or did
    Concept(
        INSENSITIVE,
        "a treatment, a drug or the arm of a trial, set by the data holder",
        """
        treat* arm rx tx randomi* placebo dose dosage interven* surger* surgical procedur* operat* anes* anaes* medicat*
        prescri* antibio* cortic* steroid* anti+inf chemo* radiother* therap* transfus* stent* vaccin* extraction*
        restorat*
        """,
        "placebo control treatment treated intervention",
        HEALTH,
    ),
    Concept(INSENSITIVE, "the arm of a trial, set by the data holder", "group trt", field=HEALTH, test=is_flag),
    Concept(
        INSENSITIVE,
        "a measurement by the data holder, which outsiders do not know",
        """
        creatin* hemoglob* haemoglob* hgb hct wbc rbc platelet* plt albumin bilirub* sodium potass* glucose glu chol
        cholest* hdl ldl trig* bili* creat* esr ferr* bic pco crp protein insulin a1c hba1c psa ast alt alp alkphos
        copper serum plasma blood urin* titer titre antibod* igg igm dna rna pcr ct+result kappa lambda flc bun sbp dbp
        systol* diastol* bp pulse heart+rate resp temp temperat* spo2 saturat* ecg ekg ejection fev fvc biops* stage
        staging gleason node nodes vol volume apgar bmi gestation* gest ga weeks birthweight birth+weight bweight bwt
        bwght lbw lowbirth* premie premat* preterm gained weight+gain tooth teeth pocket plaque gingiv* probing lab labs
        assay* concentr* densit* cd4 viral fibrin* tnf il6 mmp interleuk* units sites visit* vis mri xray scan
        """,
        "low normal elevated",
        field=HEALTH,
        test=lambda facts: facts.kind != kinds.DATE,
    ),
    Concept(
        INSENSITIVE,
        "an amount or an account that the data holder keeps",
        """
        charge* cost* price* expens* expend* amount amt fee fees bill bills paid payment* premium* balance installment*
        instalment* interest loan* principal reimburs* claim* copay deductib* dollar* dol spend* spent revenue* purchas*
        invoice* tuition order* account* acct* lines inquir* card cards cc credit* limit utiliz* mortgag* mort purpose
        rate ratio debtor* transact* deposit* withdraw*
        """,
        field=MONEY,
    ),
    Concept(
        INSENSITIVE,
        "which services somebody uses, which the data holder knows",
        """
        service* contract* subscri* plan plans streaming internet online backup support device usage calls sms churn*
        renewal* channel* campaign* clicks login* sessions
        """,
    ),
    Concept(
        INSENSITIVE,
        "a habit or a skill that somebody was asked about",
        """
        tv sleep* train trained helmet* driving exercis* exer active* strength hobb* leisure skill* honors honours
        volunteer* email training diet fruit* vegetab* sport* internet+use texting
        """,
    ),
    # what outsiders may know
    Concept(
        QUASI_IDENTIFIER,
        SEX,
        "sex gender female fem male woman women man men girl boy",
        "male female m f man woman men women boy girl",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "race, ethnicity or colour, which others see",
        """
        race raceth* racial* ethnic* eth black white asian hisp* latin* afam african american caucas* native nonwhite
        minorit* colour color indig* aborigin* nat+am mexican hawaiian
        """,
        "white black asian hispanic latino caucasian african afam cauc other",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "age or birth, which others know or can see",
        "age ages agegr* agecat birth* born dob yob senior* elder* mature adult* teen* newborn",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "where somebody comes from, which others know",
        "country cntry nation* citizen* foreign* immigr* migrant* language* english tongue visa origin birthplace",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "marital status or a partner, which others know",
        """
        marital* married marr mar marriage* single divorc* widow* spous* wife husb* partner civil cohabit* relation*
        mstat
        """,
        "married single divorced widowed separated unmarried never",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "family or household, which others know",
        """
        household* hh hhsize family fam famsize child* kid kids sibling* sib depend* parent* mother* father* mom dad son
        daughter baby home homeown* homeless* condo condomin* hous* own owner rent* tenant* residen* liable living
        people twin* plural*
        """,
        "own rent mortgage owner homeless",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "a place, which others know",
        """
        state county city town village* vill commune south north east west zip* postc* region* province* district*
        neighb* area location* place* address* precinct* lat latitud* long longitud* lon lng smsa metro* urban* rural*
        msa tract block street* site* center centre clinic* hospital* ward school* dept department* campus branch
        facility station distance* commut*
        """,
        "north south east west midwest northeast southeast northwest southwest urban rural suburban",
        is_demographic=True,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "work, which others know",
        """
        occ occup* job* profess* work* wrk* emp empl employ* industr* ind sector title compan* role rank senior* tenure
        experience exper manager* promot* parttime part+time fulltime full+time overtime selfemp self+emp hours hrs
        travel* unemp* unempl* retir* militar* veteran* army union prestig* prestg business* seniority
        """,
        "employed unemployed employee contractor retired manager clerical professional sales private",
    ),
    Concept(
        QUASI_IDENTIFIER,
        "education, which others know",
        """
        educ* ed edu school* college* colleg degree* highschool hs hschool grad graduat* diploma* universit* literacy
        qualific* major academ* class grade grades pupil* student*
        """,
        "school college bachelor master doctorate phd graduate highschool university degree",
    ),
    Concept(
        INSENSITIVE,
        "a weight of the survey: its numbers are too high for people",
        "weight wt",
        test=lambda facts: is_number(facts) and facts.high > 700,
    ),
    Concept(
        QUASI_IDENTIFIER,
        "a trait that others can see",
        "height ht weight wt hand handed* eye hair tall",
    ),
    Concept(QUASI_IDENTIFIER, "a date, by which others may know an event", "day date dt year yr month quarter time+of"),
    Concept(
        QUASI_IDENTIFIER,
        "a group of people that others can tell apart",
        "demo demograph* patient+class inpatient outpatient vehicle* car cars telephone phone mobile public",
    ),
)
DEMOGRAPHIC = frozenset(concept.reason for concept in CONCEPTS if concept.is_demographic)
TARGETS = word_set(
    """
    target label class outcome response y income credit default churn survived readmitted approved success diagnosis
    recid died death mortality attrition fraud result status deny denied released recurrence event relapse callback
    loanstatus
    """
)
_NEUTRAL = word_set(
    """
    cat categ grp num number code recode recoded log avg mean max min tot total any prev new low high status stat type
    level index ind ever per the and with from self since last first past real current curr years year month months days
    week
    """
)
_WHOSE, _ENDS = "dfhlmnprswx", "frx"  # dad's, father's, husband's ..., logarithm, number; factor, recoded
_SHORT = word_set(
    "age sex inc fam emp occ edu kid mom dad hus job hiv zip log num avg max min tot cat grp new low any ed hh iq sq yr"
)
_NO_ENDS = word_set(  # of words that have nothing to do with it: private, combination, forward, research
    """
    rate late city long class lines house ended race sport ages nation rent rated rating ward mental active owing elect
    version place teen residen round site sites anes urin gest east west tract anger served stent part native station
    tall latin elder citation tenant search searched died order point quality location relation test
    """
)


@dataclass(frozen=True)
class Match:
    """A concept that fits a column, how sure that is, and whether its values alone say so."""

    concept: Concept
    certainty: str
    by_values: bool = False


def concept_of(facts: Facts) -> Match | None:
    """The concept that a column is of: by its name, then by the label that its file has for it, then by its values."""
    values = _by_values(facts)
    for text in (facts.name, facts.label):
        found = min(_by_words(text, facts), default=None)
        if found is not None:
            concept, needed = CONCEPTS[found[1]], -found[0]
            rest = {word for word in words_of(text) if not word.isdigit()} - _NEUTRAL
            sure = text == facts.name and len(rest) <= needed and all(map(_direct, rest))
            return Match(concept, SURE if sure or concept is values else LIKELY)
    return None if values is None else Match(values, LIKELY, by_values=True)


def _by_words(text: str, facts: Facts) -> Iterator[tuple[int, int]]:
    """Concepts with words in a text: how many words, less than zero, and the place of the concept."""
    known = {word for token in words_of(text) for word in _known_words(token)}
    for place, (concept, patterns) in enumerate(zip(CONCEPTS, _patterns(), strict=True)):
        sizes = [len(pattern) for pattern in patterns if pattern <= known]
        if sizes and concept.test(facts):
            yield -max(sizes), place


def _by_values(facts: Facts) -> Concept | None:
    if facts.kind != kinds.TEXT or not 2 <= facts.distinct <= FEW:
        return None
    values = [set(re.findall(r"[a-z]+", value.lower())) for value in facts.sample]
    values = [words for words in values if words and not words <= FLAGS - {"m", "f"}]
    for concept in CONCEPTS:
        words = set(concept.values.split())
        fitting = sum(bool(words & value) for value in values)
        if words and len(values) >= 2 and fitting >= max(2, 0.6 * len(values)) and concept.test(facts):
            return concept
    return None


@cache
def _patterns() -> tuple[tuple[frozenset[str], ...], ...]:
    """The words of each concept, each as the set of those that must be there."""
    return tuple(
        tuple(frozenset(word.rstrip("*") for word in pattern.split("+")) for pattern in concept.words.split())
        for concept in CONCEPTS
    )


@cache
def _vocabulary() -> tuple[frozenset[str], tuple[str, ...]]:
    """All words, and those that are beginnings of others, the longest first."""
    words = {word for concept in CONCEPTS for pattern in concept.words.split() for word in pattern.split("+")}
    beginnings = sorted((word[:-1] for word in words if word.endswith("*")), key=lambda word: (-len(word), word))
    return frozenset(word.rstrip("*") for word in words), tuple(beginnings)


@cache
def _known_words(token: str) -> tuple[str, ...]:
    """The words of concepts in one word of a name: itself, its beginning, words that are written together, its end."""
    if found := _direct(token):
        rest = token[len(found[-1]) :]
        return (*found, *(_known_words(rest) if len(rest) >= 4 else ()))
    starts = [token, *([token[1:]] if token[:1] in _WHOSE else []), *([token[:-1]] if token[-1:] in _ENDS else [])]
    if parts := next((parts for start in starts if (parts := _parted(start))), []):
        return tuple(parts)
    if token[:1] in _WHOSE and (found := _direct(token[1:])) and (len(found[0]) >= 4 or found[0] in ("ht", "wt")):
        return found
    if short := next((_abbreviated()[part] for part in (token, token[:-1]) if part in _abbreviated()), ""):
        return (short,)
    ends = (token[place:] for place in range(1, len(token) - 3))
    return next(((end,) for end in ends if end in _vocabulary()[0] - _NO_ENDS), ())


@cache
def _abbreviated() -> dict[str, str]:
    """Words of five letters or more by how they are shortened: without vowels, such as hlth, or cut off."""
    found: dict[str, str] = {}
    for word in sorted(_vocabulary()[0]):
        if len(word) >= 5:
            found.setdefault(word[0] + re.sub("[aeiou]", "", word[1:]), word)
            found |= {word[:size]: word for size in range(5, len(word)) if word[:size] not in found}
    return {short: word for short, word in found.items() if len(short) >= 4 and short != word}


def _direct(token: str) -> tuple[str, ...]:
    """The word that a token is, in the plural or not, and the one that it starts with."""
    words, beginnings = _vocabulary()
    singular = token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith("ss") else token
    whole = [word for word in dict.fromkeys((token, singular)) if word in words]
    return (*[word for word in beginnings if token.startswith(word)][:1], *whole)


def _parted(token: str) -> list[str]:
    """Words that are a whole token, one after another, short ones only if common; none if it is no such row."""
    known = _vocabulary()[0] | _NEUTRAL
    if token in known and (len(token) > 3 or token in _SHORT):
        return [token]
    for size in range(len(token) - 2, 1, -1):
        start = token[:size]
        if start in known and (size > 3 or start in _SHORT) and (rest := _parted(token[size:])):
            return [start, *rest]
    return []
