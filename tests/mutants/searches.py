"""Mistakes in searches and in what they count on: suppression, bounds, sorting, ties."""

from tests.mutants.mutation import of

SUPPRESSION = ("unit/search/test_leaving_out.py",)
OPTIMAL = ("unit/search/optimal/test_forbidden_joins.py", "property/test_optimal.py")
DEALING = ("unit/recodings/test_secret_key.py", "unit/engines/test_allocation.py")
KEYS = ("unit/recodings/test_secret_key.py", "conformance/test_register.py")
SECRETS = ("conformance/test_left_out_secrets.py",)
LEFT_OUT = ("unit/search/optimal/test_released.py", "property/test_optimal_left_out.py")
WITHHELD = ("unit/recodings/test_rebuilt.py",)

SEARCHES = (
    # leaving out records
    of(
        "search/leaving_out.py",
        "while (now := int(out.sum())) > known:",
        "while (now := int(out.sum())) > known and known < 0:",
        *SUPPRESSION,
    ),
    of(
        "search/leaving_out.py",
        "return int(Fraction(str(suppress)) * table.records)",
        "return int(suppress * table.records)",
        *SUPPRESSION,
    ),
    of(
        "search/leaving_out.py",
        "return int(Fraction(str(suppress)) * table.records)",
        "return int(Fraction(str(suppress)) * table.records) + 1",
        *SUPPRESSION,
    ),
    of(
        "search/leaving_out.py",
        "if not left_out.any():",
        "if True:",
        *SUPPRESSION,
    ),
    of(
        "recodings/by_value.py",
        "np.bincount(codes[~left_out], minlength=attribute.size) > 0",
        "np.bincount(codes, minlength=attribute.size) > 0",
        *SUPPRESSION,
    ),
    of(
        "recodings/attributes/disclosure.py",
        "missing = self.missing_shown and bool(released[-1])",
        "missing = self.missing_shown",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/disclosure.py",
        "tuple(text for text in self.shown if text in known)",
        "self.shown",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/intervals.py",
        "ranks = [start + np.flatnonzero(released[start:stop]) for start, stop in pairwise(edges)]",
        "ranks = [np.arange(start, stop) for start, stop in pairwise(edges)]",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/intervals.py",
        "exact = tuple(number for number in self.exact if number in set(lowest))",
        "exact = self.exact",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/intervals.py",
        'missing = "apart" if attribute.missing is not None and bool(released[attribute.missing]) else "none"',
        "missing = self.missing",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/cut.py",
        "labels = tuple(label for label, kept in zip(self.labels, used, strict=True) if kept)",
        "labels = self.labels",
        *WITHHELD,
    ),
    of(
        "recodings/attributes/partition.py",
        "kept = tuple(value for value in block if value in known)",
        "kept = block",
        *WITHHELD,
    ),
    # optimal
    of(
        "search/optimal/branch_and_bound.py",
        "if not self.costs.better(bound, self.best):\n                    apart",
        "if bound >= 0.8 * self.best:\n                    apart",
        *OPTIMAL,
    ),
    of("search/optimal/branch_and_bound.py", "or sure <= self._limit", "or sure < self._limit", *OPTIMAL),
    of(
        "search/optimal/branch_and_bound.py",
        "node.bound = max(node.bound, bound)",
        "node.bound = max(node.bound, 1.05 * bound)",
        *OPTIMAL,
    ),
    of(
        "search/optimal/branch_and_bound.py",
        "if self._hopeless(node.bound) or not self._forbid(node, fine, coarse, is_free):",
        "if True:",
        *OPTIMAL,
    ),
    of(
        "search/optimal/branch_and_bound.py",
        "if rest:\n            yield Node(node.states, rest",
        "if False:\n            yield Node(node.states, rest",
        *OPTIMAL,
    ),
    of(
        "search/optimal/branch_and_bound.py",
        'return "bound" in self._on and not self.costs.better(bound, self.best)',
        'return "bound" in self._on and bound > 0.9 * self.best',
        *OPTIMAL,
    ),
    of(
        "search/optimal/seeds.py",
        "[each for each in found if _contains(schemes, each[1])]",
        "found",
        "unit/search/optimal/test_seeds.py",
    ),
    of(
        "search/optimal/ranges.py",
        "return sum(block & piece != 0 for piece in pieces) < 2",
        "return block & sum(pieces) == 0",
        "property/test_optimal_pairs.py",
    ),
    of(
        "search/optimal/innermost.py",
        "np.append(True, level[1:] < lowest[:-1])",
        "is_first",
        "unit/search/optimal/test_released.py",
    ),
    # sorting and grouping
    of(
        "table/grouping.py",
        "key, packed = _pack(columns, sizes, room_for(len(columns[0])))",
        "key, packed = _pack(columns, sizes, 1 << 80)",
        "unit/table/test_grouping.py",
    ),
    of(
        "table/grouping.py",
        "room = room_for(len(rows)) // max(len(order), 1)",
        "room = 1 << 62",
        "unit/table/test_grouping.py",
    ),
    of("table/grouping.py", "tied[:-1] |= tied[1:]", "pass", "unit/table/test_grouping.py"),
    of(
        "search/bottom_up/class_index.py",
        "if room * size >= _ROOM:",
        "if False:",
        "unit/search/bottom_up/test_bottom_up.py",
    ),
    of(
        "search/bottom_up/class_index.py",
        "& (others != one)]",
        "]",
        "unit/search/bottom_up/test_bottom_up.py",
        "property/test_bottom_up.py",
    ),
    of(
        "search/top_down/deferred_checks.py",
        "return bool(self._good(left, groups).all())",
        "return True",
        "unit/search/top_down/test_deferred_checks.py",
    ),
    of(
        "search/top_down/deferred_checks.py",
        "return bool(self._good(left, in_full).all())",
        "return False",
        "unit/search/top_down/test_deferred_checks.py",
    ),
    of(
        "search/top_down/deferred_checks.py",
        "        if not len(bad):\n            return True",
        "        if True:\n            return True",
        "unit/search/top_down/test_deferred_checks.py",
    ),
    of(
        "search/top_down/partial_refinement.py",
        "        yield alone[beside], others\n",
        "",
        "property/test_top_down.py",
    ),
    of(
        "search/top_down/partial_refinement.py",
        "child or node, 0.0",
        "node, 0.0",
        "unit/search/top_down/test_exact_choice.py",
    ),
    of(
        "search/top_down/partial_refinement.py",
        "records[most] > 0",
        "records[most] >= 0",
        "property/test_top_down.py",
    ),
    of(
        "search/top_down/partial_refinement.py",
        "            self._update_gains(node)",
        "            pass",
        "property/test_top_down.py",
    ),
    of(
        "search/top_down/top_down.py",
        "    yield _searched(replace(task, partial=False), run",
        "    yield _searched(task, run",
        "property/test_top_down.py",
    ),
    of(
        "search/mondrian/boxes.py",
        "if self._needy is None or not self._needy.take(part.tuples).any():",
        "if True:",
        "property/test_mondrian.py",
        "unit/search/mondrian",
    ),
    of(
        "search/exact.py",
        "return [place for place, value in enumerate(compared) if value == best]",
        "return [compared.index(best)]",
        "unit/search/test_exact.py",
    ),
    of(
        "search/exact.py",
        "best = min(compared) if lowest else max(compared)",
        "best = max(compared)",
        "unit/search/test_exact.py",
    ),
    of(
        "search/exact.py",
        "return np.flatnonzero(values + slack >= (values - slack).max())",
        "return np.flatnonzero(values == values.max())",
        "unit/search/test_exact.py",
        "unit/search/top_down/test_exact_choice.py",
    ),
    # the key, and what being left out tells
    of("run.py", "self.key = key or Key.drawn()", "self.key = key or Key.for_experiments(0)", *KEYS),
    of("key.py", "cls(secrets.token_bytes(KEY_BYTES))", "cls(bytes(KEY_BYTES))", *KEYS),
    of("key.py", "hashlib.blake2b(key=self.secret, person", "hashlib.blake2b(person", *KEYS),
    of("key.py", "person=purpose.encode(), ", "", *KEYS),
    of("search/leaving_out.py", "> Fraction(value, records) + MOST", "> Fraction(value, records) + 1", *SECRETS),
    of(
        "search/leaving_out.py",
        "if needed <= budget:",
        "if True:",
        *SECRETS,
    ),
    of("search/leaving_out.py", "more = suppressed(groups, requirements, table, more)\n", "pass\n", *SECRETS),
    # dealing records of one tuple to several classes
    of("recodings/by_tuple.py", "np.ascontiguousarray(mapping.tuples).tobytes()", "", *DEALING),
    of(
        "recodings/by_tuple.py",
        "    digest.update(np.add.reduceat(mapping.part_records, mapping.first_part[:-1]).tobytes())\n",
        "",
        *DEALING,
    ),
    of(
        "recodings/by_tuple.py",
        'key.derived("dealing", digest.digest())',
        "digest.digest()[:32]",
        *DEALING,
    ),
    of(
        "engines/allocation.py",
        "digest_size=8, key=self._key)",
        "digest_size=8)",
        *DEALING,
    ),
    of(
        "engines/allocation.py",
        "drawn = mix(np.repeat(hashes, counts) ^ mix(number.astype(np.uint64)))",
        "drawn = np.repeat(hashes, counts)",
        *DEALING,
    ),
    of(
        "engines/allocation.py",
        "place[known] = self._used[ordered[known]] + number[known]",
        "place[known] = number[known]",
        *DEALING,
    ),
    of(
        "engines/allocation.py",
        "part[surplus] = first[ordered[surplus]]",
        "pass",
        *DEALING,
    ),
    # auto and numeric targets
    of(
        "search/automatic/automatic.py",
        "found.pop(min(range(len(found)), key=lambda place: found[place][0]))",
        "found.pop(max(range(len(found)), key=lambda place: found[place][0]))",
        "unit/search/automatic/test_automatic.py",
    ),
    of(
        "search/automatic/automatic.py",
        "if len(requirements) > 1:",
        "if False:",
        "unit/search/automatic/test_automatic.py",
    ),
    of(
        "search/automatic/automatic.py",
        'if "tdr" in names and len(names) > 1:',
        "if False:",
        "unit/search/automatic/test_automatic.py",
    ),
    of(
        "search/automatic/automatic.py",
        "if len(table.counts) * len(table.attributes) > COVER else",
        "if False else",
        "unit/search/automatic/test_automatic.py",
    ),
    of(
        "search/automatic/trial.py",
        "as_good = error - errors[best] <= _half(more)",
        "as_good = True",
        "unit/search/automatic/test_trial.py",
    ),
    of(
        "search/automatic/samples.py",
        "tested, released = np.split(taken, [size // TESTED])",
        "tested, released = taken[: size // TESTED], taken",
        "unit/search/automatic/test_trial.py",
    ),
    of(
        "search/automatic/boosting.py",
        "before, after = np.where(apart, highest, before), np.where(apart, lowest, after)",
        "pass",
        "unit/search/automatic/test_boosting.py",
    ),
    of(
        "table/target_bins.py",
        "if len(present) <= MOST_LABELS or",
        "if len(present) < MOST_LABELS or",
        "unit/table/test_target_bins.py",
    ),
    of(
        "table/target_bins.py",
        'for part in range(1, BINS)], side="left") + 1',
        'for part in range(1, BINS)], side="left")',
        "unit/table/test_target_bins.py",
    ),
    of(
        "table/target_bins.py",
        'is None else number for number in numbers], "right")',
        'is None else number for number in numbers], "left")',
        "unit/table/test_target_bins.py",
    ),
    # groups of siblings, and values suppressed by themselves
    of(
        "search/bottom_up/problem.py",
        "and below[many - 1] >= least:",
        "and below[many - 1] > least:",
        "golden/test_bug_paper.py",
        "property/test_bottom_up.py",
    ),
    of(
        "search/bottom_up/generalization_trees.py",
        "int(np.count_nonzero(counts[rarest] == 0)) + 2",
        "2",
        "golden/test_bug_paper.py",
        "property/test_bottom_up.py",
    ),
    of(
        "search/bottom_up/merges.py",
        " - other.counts * self._loss(other)",
        "",
        "property/test_bottom_up.py",
    ),
    # people of a population that no record is like
    of(
        "privacy/model.py",
        "return good | (classes.records == 0) if self.with_absent else good",
        "return good",
        "conformance/test_absent_people.py",
    ),
    of(
        "privacy/model.py",
        "if not self.with_absent or classes.records.all():",
        "if True:",
        "conformance/test_absent_people.py",
        "conformance/test_population.py",
    ),
    of(
        "search/method.py",
        'if not self.local and getattr(table, "absent", None) is not None:',
        "if False:",
        "conformance/test_absent_people.py",
    ),
    of(
        "table/compressed.py",
        "np.zeros(len(other), self.counts.dtype)",
        "np.ones(len(other), self.counts.dtype)",
        "conformance/test_absent_people.py",
    ),
    of(
        "population/table.py",
        "chosen = matched.shared if recoding.is_confidential else matched.known",
        "chosen = matched.shared",
        "conformance/test_absent_people.py",
    ),
    # mondrian
    of(
        "search/mondrian/leaving_out.py",
        "lost += dimension.released_loss(",
        "lost += dimension.lost(",
        "unit/search/mondrian/test_leaving_out.py",
    ),
    of(
        "search/mondrian/mondrian.py",
        'exact if bounds == "exact" else public_grids(',
        "exact if True else public_grids(",
        "unit/recodings/test_public_bounds.py",
    ),
    of("search/baselines/argus.py", "if not self._exact:", "if False:", "unit/recodings/test_public_bounds.py"),
    of(
        "recodings/grids.py",
        'Grid(scale, 2 if scale.kind == "integer" else 1)',
        "Grid(scale, 1)",
        "unit/recodings/test_public_bounds.py",
    ),
    of(
        "advice/warnings.py",
        "return (*found, *_exact_bounds(release))",
        "return tuple(found)",
        "unit/recodings/test_public_bounds.py",
    ),
    of(
        "search/mondrian/proof.py",
        "(records >= least_size)",
        "(records > least_size)",
        "unit/search/mondrian/test_proof.py",
    ),
    of(
        "search/mondrian/leaving_out.py",
        "if offer.records > left:",
        "if offer.records > left + 1:",
        "unit/search/mondrian/test_leaving_out.py",
    ),
    of(
        "search/mondrian/leaving_out.py",
        "(total - stay).astype(self._whole) * self._everything",
        "(total - stay) * self._everything",
        "unit/search/mondrian/test_leaving_out.py",
    ),
    of(
        "search/mondrian/leaving_out.py",
        "for box in np.flatnonzero(possible & (before - after > 0)).tolist():",
        "for box in np.flatnonzero(possible).tolist():",
        "unit/search/mondrian/test_leaving_out.py",
    ),
    of(
        "search/mondrian/dimensions.py",
        "if not box.good_sizes(np.array([half, ends[-1] - half])).all():",
        "if False:",
        "unit/search/mondrian/test_mondrian.py",
        equivalent="a box is cut only if it has records for two good classes, so both halves have enough",
    ),
    of(
        "search/baselines/datafly.py",
        "return min(requirement.least_size for requirement in requirements) if closed else 0",
        "return max(requirement.least_size for requirement in requirements)",
        "unit/search/baselines/test_full_domain.py",
    ),
    # a budget: what is released is what was priced, and is never worse than without one
    of(
        "recodings/attributes/intervals.py",
        "return np.where(above == begun, above, len(self.labels) - 1)",
        "return np.minimum(above, len(self.ends) - 1)",
        *LEFT_OUT,
    ),
    of(
        "search/optimal/released.py",
        "tight = domain.tightened(blocks_of(partitions[index].tolist()), known)",
        "tight = tuple(blocks_of(partitions[index].tolist()))",
        *LEFT_OUT,
    ),
    of("search/optimal/released.py", "hidden = {} if costs.exact else", "hidden = {} if True else", *LEFT_OUT),
    of("search/optimal/optimal.py", "tight=limit > 0", "tight=False", *LEFT_OUT),
    of("search/optimal/optimal.py", "if limit and search", "if False and search", *LEFT_OUT),
    of(
        "search/top_down/top_down.py",
        "for most in dict.fromkeys((0, budget))",
        "for most in (budget,)",
        "property/test_top_down.py",
    ),
    of(
        "search/bottom_up/bottom_up.py",
        "for most in dict.fromkeys((0, budget)):",
        "for most in (budget,):",
        "unit/search/bottom_up/test_bottom_up.py",
    ),
    of(
        "search/automatic/automatic.py",
        '*(way for way in ways if way.method != "tdr" or not suppress), *budget',
        "*budget",
        "unit/search/automatic/test_automatic.py",
    ),
    of(
        "settled.py",
        'or self.asked.options.get("suppress")',
        "or False",
        "unit/search/automatic/test_automatic.py",
    ),
)
