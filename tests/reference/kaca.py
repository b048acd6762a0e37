"""KACA1 and KACA2 straight from the paper's definitions, in exact fractions, one class against every other."""

from collections import Counter
from fractions import Fraction

WORD = 2**64


class SplitMix:
    """The random numbers that the choice rule draws."""

    def __init__(self, seed):
        self.state = seed

    def __call__(self):
        self.state = (self.state + 0x9E3779B97F4A7C15) % WORD
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) % WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) % WORD
        return z ^ (z >> 31)


class Tree:
    """A hierarchy as paths of labels from leaf to root."""

    def __init__(self, taxonomy):
        self.paths = {path[0]: path for path in taxonomy.paths()}
        self.leaves = list(self.paths)
        self.above = {}
        for path in self.paths.values():
            for place, label in enumerate(path):
                self.above[label] = path[place:]
        self.height = max(map(len, self.paths.values()))

    def level(self, label):
        return len(self.above[label])

    def common(self, labels):
        first, *others = (self.above[label] for label in labels)
        return next(label for label in first if all(label in path for path in others))

    def up_to(self, label, level):
        return next(above for above in self.above[label] if self.level(above) <= level)

    def below(self, label):
        return [leaf for leaf in self.leaves if label in self.paths[leaf]]

    def cost(self, before, after, distance):
        """WHD of a generalization (Definition 5), or the NCP that it adds."""
        if distance == "ncp":
            most = max(1, len(self.leaves) - 1)
            return Fraction(len(self.below(after)) - len(self.below(before)), most)
        weight = {"uniform": lambda j: Fraction(1), "height": lambda j: Fraction(1, j - 1)}[distance]
        low = self.height if before in self.paths else self.level(before)  # a short path is filled up with its leaf
        high = self.height if after in self.paths else self.level(after)
        climbed = sum(weight(j) for j in range(high + 1, low + 1))
        return climbed / sum(weight(j) for j in range(2, self.height + 1))


class Kaca:
    """The algorithms on rows of leaf labels."""

    def __init__(self, trees, k, seed, distance="height", priorities=None):
        self.trees, self.k, self.seed, self.distance = trees, k, seed, distance
        self.priorities = priorities or [Fraction(1)] * len(trees)

    def generalized(self, rows):
        return tuple(tree.common(labels) for tree, labels in zip(self.trees, zip(*rows, strict=True), strict=True))

    def distortion(self, before, after):
        columns = zip(self.trees, self.priorities, before, after, strict=True)
        return sum(weight * tree.cost(one, other, self.distance) for tree, weight, one, other in columns)

    def between(self, small, large):
        """Definitions 10 and 14."""
        both = self.generalized([small["tuple"], large["tuple"]])
        size = self.size(large)
        taking_part = size if self.size(small) + size < 2 * self.k else self.k - self.size(small)
        return self.size(small) * self.distortion(small["tuple"], both) + taking_part * self.distortion(
            large["tuple"], both
        )

    @staticmethod
    def size(group):
        return len(group["members"])

    def kaca(self, start):
        """KACA1 from one list of members per distinct tuple; gives the lists of members of the classes."""
        draw = SplitMix(self.seed)
        classes = [{"tuple": row, "members": list(members), "key": draw()} for row, members in start]
        small = [group for group in classes if self.size(group) < self.k]
        while small:
            chosen = self.forget(small, small[draw() % len(small)])
            others = [group for group in classes if group is not chosen]
            other = min(others, key=lambda group: (self.between(chosen, group), group["key"]))
            if self.size(chosen) + self.size(other) < 2 * self.k:
                taken = self.size(other)
                classes.remove(other)
                if any(other is group for group in small):
                    self.forget(small, other)
            else:
                taken = self.k - self.size(chosen)
            chosen["members"] += other["members"][:taken]
            del other["members"][:taken]
            chosen["tuple"] = self.generalized([chosen["tuple"], other["tuple"]])
            chosen["key"] = draw()
            if self.size(chosen) < self.k:
                small.append(chosen)
        return [group["members"] for group in classes]

    @staticmethod
    def forget(small, group):
        place = next(i for i, waiting in enumerate(small) if waiting is group)
        small[place] = small[-1]
        small.pop()
        return group

    def order(self, row):
        """Where a row of labels stands in the order of the hierarchies."""
        places = []
        for tree, label in zip(self.trees, row, strict=True):
            first = tree.leaves.index(tree.below(label)[0])
            places.append((first, tree.level(label)))
        return places

    def kaca1_release(self, rows):
        """How many records of each tuple are released as which."""
        counts = Counter(rows)
        start = [(row, [row] * counts[row]) for row in sorted(counts, key=self.order)]
        released = Counter()
        for members in self.kaca(start):
            released.update((row, self.generalized(members)) for row in members)
        return released

    def kaca2_release(self, rows, most):
        """The same with bounded inconsistency; the bound is the decimal number that it was written as."""
        most = Fraction(str(most))
        columns = [
            self.rare_up(tree, list(c), most) for tree, c in zip(self.trees, zip(*rows, strict=True), strict=True)
        ]
        pairs = sorted(zip(rows, zip(*columns, strict=True), strict=True), key=lambda pair: self.order(pair[0]))
        members = {}
        for row, general in pairs:
            members.setdefault(general, []).append((row, general))
        start = [(general, members[general]) for general in sorted(members, key=self.order)]
        cells = []
        for group in self.kaca(start):  # of records that were generalized alike, the first go to the first class
            shown = self.generalized([general for _, general in group])
            for general, number in Counter(general for _, general in group).items():
                cells += [(row, shown) for row, _ in members[general][:number]]
                del members[general][:number]
        columns = list(zip(*(cell for _, cell in cells), strict=True))
        columns = [self.consistent(tree, list(c), most) for tree, c in zip(self.trees, columns, strict=True)]
        return Counter(zip((row for row, _ in cells), zip(*columns, strict=True), strict=True))

    def rare_up(self, tree, labels, most):
        """Lemma 4."""
        for level in range(tree.height, 0, -1):
            labels = [tree.up_to(label, level) for label in labels]
            rare = Fraction(sum(n for n in Counter(labels).values() if n < self.k), len(labels))
            if rare < most or rare == 0:
                break
        return labels

    def consistent(self, tree, labels, most):
        """Algorithm 2, lines 5 to 9, with the test put right."""
        for level in range(tree.height, 0, -1):
            labels = [tree.up_to(label, level) for label in labels]
            found = inconsistency(tree, labels)
            if found < most or found == 0:
                break
        return labels


def inconsistency(tree, labels):
    """Definition 12; a leaf above the deepest level belongs to all levels from its own down."""
    shares = []
    for level in range(1, tree.height + 1):
        own = [tree.level(x) == level or (x in tree.leaves and tree.level(x) < level) for x in labels]
        shares.append(Fraction(sum(own), len(labels)))
    return 1 - max(shares)
