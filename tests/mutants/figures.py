"""Mistakes in what is said of risks and people."""

from tests.mutants.mutation import of

OUTSIDE = ("unit/risk/test_journalist_risk.py",)
PEOPLE = ("unit/table/test_members.py", "unit/report/test_people.py")

FIGURES = (
    # the journalist's risk
    of("population/estimates.py", "chance = (rate + self.drawn) / (rate + 1)", "chance = self.drawn", *OUTSIDE),
    of(
        "population/estimates.py",
        "return Outside(*rates.risks(shape, crowd)",
        "return Outside(*rates.risks(50.0, crowd)",
        *OUTSIDE,
    ),
    of("population/estimates.py", "if scatter < LEAST_SHAPE:", "if scatter < 0:", *OUTSIDE),
    of("population/estimates.py", "for alpha in _ALPHAS)", "for alpha in ())", *OUTSIDE),
    of(
        "population/estimates.py",
        "(alone + 2 * math.sqrt(alone + 1) + 2) / records",
        "alone / records / 4",
        *OUTSIDE,
    ),
    of(
        "population/estimates.py",
        "told = [place for place in told if not _follows",
        "told = [place for place in told if True or _follows",
        *OUTSIDE,
    ),
    of("population/estimates.py", "sizes + more < crowd, term", "sizes + more <= crowd, term", *OUTSIDE),
    # thresholds
    of(
        "risk/attackers.py",
        "math.ceil(1 / threshold)",
        "math.floor(1 / threshold)",
        "unit/risk/test_assessment.py",
    ),
    of("risk/wording.py", "threshold.numerator == 1 or ", "", "unit/risk/test_assessment.py"),
    # people
    of(
        "table/members.py",
        "return int(np.count_nonzero(np.bincount(persons[chosen[of]], minlength=self.number)))",
        "return int(self.sizes[chosen].sum())",
        *PEOPLE,
    ),
    of("table/members.py", "np.minimum.at(found, persons, self.sizes[of])", "found[persons] = self.sizes[of]", *PEOPLE),
    of("report/public.py", "for each in (sizes, own))", "for each in (sizes, np.repeat(sizes, sizes)))", *PEOPLE),
    of(
        "risk/attackers.py",
        "average = sum(risks, Fraction(0)) / people.number",
        "average = Fraction(len(sizes), people.memberships)",
        "property/test_risk.py",
    ),
    # attacks
    of("attacks/downcoding.py", "cost < cost[box]", "cost <= cost[box]", "unit/attacks/test_downcoding.py"),
    of("attacks/downcoding.py", ".sum() >= self.sizes[box]", ".sum() > 0", "unit/attacks/test_downcoding.py"),
    of("attacks/releases.py", "(left.sizes < least)", "(left.sizes < 1)", "unit/attacks/test_releases.py"),
    of(
        "attacks/releases.py",
        "np.maximum(alone.certain[column], elsewhere.certain[column])",
        "alone.certain[column]",
        "unit/attacks/test_releases.py",
    ),
    of(
        "attacks/posterior.py",
        "tally / tally.sum(axis=1, keepdims=True)",
        "tally / tally.sum()",
        "unit/attacks/test_posterior.py",
    ),
    of(
        "attacks/learners.py",
        "inside, outside = fold[crowd] != number",
        "inside, outside = fold[crowd] >= 0",
        "unit/attacks/test_learners.py",
    ),
    of(
        "attacks/learners.py",
        "own = tally if without_own",
        "own = tally if not without_own",
        "unit/attacks/test_learners.py",
    ),
    of(
        "attacks/inference.py",
        '("", by_frequencies, 2)]',
        '("", by_frequencies, 1 + len(learners))]',
        "unit/attacks/test_learners.py",
    ),
    of("attacks/last_record.py", "people)) == shown)", "people)) != shown)", "unit/attacks/test_last_record.py"),
    of("attacks/order.py", "_shuffled(told_apart, rng)[places]", "places", "unit/attacks/test_ten_leaks.py"),
)
