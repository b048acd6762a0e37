"""Risks of a whole table straight from their definitions, on the released rows or on the sizes of their classes."""

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations


def average_risk(rows):
    """The mean over all records of 1 / size of their class."""
    sizes = Counter(rows)
    return sum(Fraction(1, sizes[row]) for row in rows) / len(rows)


def sample_uniqueness(rows):
    sizes = Counter(rows)
    return Fraction(sum(sizes[row] == 1 for row in rows), len(rows))


def rows_of(sizes):
    return [number for number, size in enumerate(sizes) for _ in range(size)]


def zayatz(sizes, people):
    """People who are alone in the population: Bayes over the sizes of classes, records drawn without replacement."""
    records, classes = sum(sizes), Counter(sizes)

    def shows_one(size):
        return Fraction(size * math.comb(people - size, records - 1), math.comb(people, records))

    whole = sum(number * shows_one(size) for size, number in classes.items())
    chance = classes[1] * shows_one(1) / whole
    return chance * classes[1] * Fraction(people, records)


def pitman_likelihood(sizes, alpha, theta):
    """The logarithm of how likely these classes are by Pitman's formula, but for a constant."""
    rising = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    within = sum(math.log(j - alpha) for size in sizes for j in range(1, size))
    return rising + within - sum(math.log(theta + i) for i in range(1, sum(sizes)))


def pitman_uniques(alpha, theta, people):
    """The expected number of people who are alone: the first one stays alone as the others come, one by one."""
    alone = 1.0
    for seen in range(1, people):
        alone *= (theta + alpha + seen - 1) / (theta + seen)
    return people * alone


def snb_shows(records, alpha, beta, fraction):
    """How likely a class of 1 + X people shows so many records, X negative binomial: summed over all X."""
    total, chance = 0.0, beta**alpha
    for more in range(20_000):
        people = more + 1
        if people >= records:
            drawn = math.comb(people, records) * fraction**records * (1 - fraction) ** (people - records)
            total += chance * drawn
        chance *= (alpha + more) / (more + 1) * (1 - beta)
        if chance < 1e-18 and more > 200:
            break
    return total


def fewest_left_out(sizes, holds):
    """The fewest records that have to be left out, as wholes of classes, so that the rest keeps a promise."""
    every = range(len(sizes))
    sets = (set(chosen) for number in range(len(sizes) + 1) for chosen in combinations(every, number))
    return min(
        sum(sizes[i] for i in out)
        for out in sets
        if len(out) == len(sizes) or holds([sizes[i] for i in every if i not in out])
    )
