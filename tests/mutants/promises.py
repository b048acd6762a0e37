"""Mistakes in what is promised and who counts it: privacy models, requirements, the witness."""

from tests.mutants.mutation import of

MODELS = ("unit/privacy/test_thresholds.py", "unit/privacy/test_models.py")
LEVELS = ("unit/privacy/test_thresholds.py", "unit/verification/test_witness.py")
VALUES = ("unit/verification/test_witness_values.py",)
SEVERAL = ("unit/ledger/test_several_releases.py",)
WORLDS = ("unit/ledger/test_worlds.py",)
WITNESS = ("unit/privacy/test_thresholds.py", "unit/verification/test_witness.py")

OF_TABLE = ("golden/test_table_risk.py", "property/test_table_risk.py", "conformance/test_whole_tables.py")

PROMISES = (
    # promises about all classes together
    of("privacy/table_risk.py", "or self.reached(sizes) <= self.value", "or self.reached(sizes) < 1", *OF_TABLE),
    of("privacy/table_risk.py", "return 1.0 if share is None else share", "return share or 0.0", *OF_TABLE),
    of("verification/counts.py", "not level <= most)", "False)", *OF_TABLE),
    of("search/leaving_out.py", "if not holds(0):", "if False:", *OF_TABLE),
    of(
        "search/registry.py",
        "if of_table and not method.whole_tables:",
        "if False:",
        "conformance/test_whole_tables.py",
    ),
    of(
        "privacy/population.py",
        "if tail <= self.error * shown:",
        "if tail <= 1:",
        "unit/privacy/test_estimated_k_map.py",
    ),
    of(
        "verification/counts.py",
        "return sizes.min().item(), sizes < _records_of(promise)",
        "return sizes.min().item(), sizes < 1",
        "unit/privacy/test_estimated_k_map.py",
    ),
    # models: thresholds and ties
    of("privacy/k_anonymity.py", "return classes.records", "return classes.records + 1", *MODELS),
    of(
        "privacy/k_anonymity.py",
        "return self.k\n\n    @property\n    def least_size",
        "return self.k - 1\n\n    @property\n    def least_size",
        *MODELS,
    ),
    of("privacy/k_anonymity.py", "    Whole(2),", "    Whole(1),", *MODELS, "unit/policy/test_policy.py"),
    of("privacy/declared.py", "self.option.check(self.option_name, self.value)", "pass", *MODELS),
    of(
        "privacy/model.py",
        "first.levels(classes) >= first.threshold",
        "first.levels(classes) > first.threshold",
        *MODELS,
    ),
    of(
        "privacy/model.py",
        "good &= model.levels(classes) >= model.threshold",
        "good |= model.levels(classes) >= model.threshold",
        *MODELS,
    ),
    of(
        "privacy/model.py",
        "if model.for_everyone:",
        "if False:",
        "unit/search/top_down/test_privacy_models.py::test_a_promise_to_everyone_is_refused",
    ),
    of(
        "privacy/l_diversity.py",
        "return np.where(bad, 1, counted.counts)",
        "return np.ones(len(counted.counts), np.int64)",
        *MODELS,
    ),
    of("privacy/l_diversity.py", "first = rank < self.l - 1", "first = rank < self.l", *MODELS),
    of(
        "privacy/l_diversity.py",
        "return nextafter(float(1 / Fraction(str(self.c))), inf)",
        "return float(1 / Fraction(str(self.c)))",
        *MODELS,
    ),
    of(
        "privacy/l_diversity.py",
        "room = np.maximum(self.l - 1 - sums(counted, bad), 0)",
        "room = np.zeros(counted.size, np.int64)",
        *MODELS,
    ),
    of("privacy/l_diversity.py", "return np.round(np.exp(entropy), DIGITS)", "return np.exp(entropy)", *MODELS),
    of("privacy/likeness.py", "return -float(self.alpha)", "return -float(self.alpha) - 0.01", *MODELS),
    of(
        "privacy/likeness.py",
        "counts = np.where(harmful(counted.values, self.harmless)[counted.codes], counted.counts, 0)",
        "counts = counted.counts",
        *MODELS,
    ),
    of(
        "privacy/likeness.py",
        "return np.round(gain * closer[counted.codes], DIGITS)",
        "return gain",
        *MODELS,
    ),
    of(
        "privacy/likeness.py",
        "return nextafter(-round(float(self.delta), DIGITS), inf)",
        "return -round(float(self.delta), DIGITS)",
        *MODELS,
    ),
    of(
        "privacy/likeness.py",
        "return np.where(has_all, -np.round(largest(counted, factor, 0.0), DIGITS), -inf)",
        "return -np.round(largest(counted, factor, 0.0), DIGITS)",
        *MODELS,
    ),
    of("privacy/t_closeness.py", "return -float(self.t)", "return -float(self.t) - 0.01", *MODELS),
    of(
        "privacy/t_closeness.py",
        "moved = records * total + sums(counted, np.abs(counted.counts * total - expected) - expected)",
        "moved = sums(counted, np.abs(counted.counts * total - expected))",
        *MODELS,
    ),
    of("privacy/t_closeness.py", "gap += np.where(first, n * area[at], 0)", "gap += 0", *MODELS),
    of(
        "privacy/t_closeness.py",
        "moved += (height - int(taxonomy.depth[node])) * np.minimum(surplus, lack)",
        "moved += height * np.minimum(surplus, lack)",
        *MODELS,
    ),
    of(
        "privacy/units.py",
        "return sums(counted, np.ones(len(counted.tuples), np.int64))",
        "return sums(counted, counted.counts)",
        *MODELS,
    ),
    of(
        "search/native/class_index.c",
        "            around = child;",
        "            around = around < 0 ? child : around;",
        "unit/search/clustering/test_kernels.py",
    ),
    of(
        "search/native/improve.c",
        "smaller(records, size - least_size)",
        "smaller(records, size - least_size + 1)",
        "unit/search/clustering/test_recovering.py",
    ),
    of(
        "search/native/exchange.c",
        "state->size.at[row[1]] - state->least_size",
        "state->size.at[row[1]] - state->least_size + 1",
        "property/test_local_recoding.py",
        "unit/search/clustering/test_slices.py",
    ),
    of("search/native/optimal.c", "size >= least) continue;", "size > least) continue;", "property/test_optimal.py"),
    of(
        "privacy/model.py",
        "return max(model.least_size for model in self.models)",
        "return min(model.least_size for model in self.models)",
        "unit/privacy/test_thresholds.py",
    ),
    # what is promised, from the words of a policy
    of("policy/protection.py", "if self.groups and self.bins:", "if False:", "unit/policy/test_options.py"),
    # the witness
    of(
        "verification/witness.py",
        "for finding in self.findings:\n            for model in finding.models:\n                if not",
        "for finding in self.findings[:1]:\n            for model in finding.models:\n                if not",
        *WITNESS,
    ),
    of(
        "verification/witness.py",
        "for finding in self.findings:\n            for model in finding.models:\n                if not",
        "for finding in self.findings:\n            for model in finding.models[:1]:\n                if not",
        *WITNESS,
    ),
    of(
        "verification/witness.py",
        "return all(model.holds for model in self.models)",
        "return any(model.holds for model in self.models)",
        *WITNESS,
    ),
    of(
        "verification/witness.py",
        "return all(finding.holds for finding in self.findings)",
        "return self.findings[0].holds",
        *WITNESS,
    ),
    of("verification/witness.py", "if not self._records:", "if False:", *WITNESS),
    of(
        "verification/witness.py",
        "values = [*plain(column.dictionary), None]",
        "values = [*plain(column.dictionary), '*']",
        *WITNESS,
    ),
    of(
        "verification/witness.py",
        "new[1:] |= ordered[1:] != ordered[:-1]",
        "new[1:] = ordered[1:] != ordered[:-1]",
        *WITNESS,
    ),
    of("verification/witness.py", "            keys *= size\n", "            keys *= 1\n", *WITNESS),
    of("verification/witness.py", "varying.get(place, column[:1])", "varying.get(place, 0)", *WITNESS),
    of(
        "verification/witness.py",
        "else np.add.reduceat(counts[order], starts)",
        "else np.add.reduceat(counts, starts)",
        *WITNESS,
    ),
    of(
        "verification/witness.py",
        'return "NaN" if isinstance(value, float) and value != value else value',
        "return value",
        *WITNESS,
    ),
    of(
        "verification/counts.py",
        "return sizes.min().item(), sizes < limit",
        "return sizes.min().item(), sizes < limit - 1",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "people = np.bincount(columns[promise.column].classes, minlength=len(sizes))",
        "people = sizes",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "return np.asarray(found < limit - self.tie)",
        "return np.asarray(found < limit - 0.5)",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "else found > limit + self.tie)",
        "else found > limit + 0.05)",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "return np.asarray((matrix[:, ~harmless] > 0).sum(axis=1) + matrix[:, harmless].sum(axis=1))",
        "return np.asarray((matrix > 0).sum(axis=1))",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        'rest = sum(counts[promise.more["l"] - 1 :])',
        'rest = sum(counts[promise.more["l"] :])',
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "return np.asarray(np.abs(excess).sum(axis=1) / 2)",
        "return np.asarray(np.abs(excess).sum(axis=1) / 4)",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "return np.asarray(moved / (2 * total) if total else np.zeros(len(excess)))",
        "return np.asarray(moved / (4 * total) if total else np.zeros(len(excess)))",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "np.maximum(_excess(matrix, column) / column.shares, 0).max(axis=1)",
        "np.maximum(_excess(matrix, column), 0).max(axis=1)",
        *LEVELS,
    ),
    of(
        "verification/counts.py",
        "stop = min(self.size, start + step)\n            part",
        "stop = min(self.size, start + step) - (start > 0)\n            part",
        *LEVELS,
    ),
    # what the witness takes values for, and what it is asked: in places that look as if they were shared
    of("verification/values.py", "if text is None or text in self.missing:", "if text is None:", *VALUES),
    of("verification/values.py", "            if text in members:", "            if False:", *VALUES),
    of("verification/values.py", "bound <= number", "bound < number", *VALUES),
    of("verification/values.py", "return _bin(number, self.bins) if self.bins else number", "return number", *VALUES),
    of("verification/values.py", "number = pointed(text) if self.commas else text", "number = text", *VALUES),
    of("verification/values.py", "if pa.types.is_float16(kind) or pa.types.is_float32(kind):", "if False:", *VALUES),
    of(
        "verification/promises.py",
        "groups, bins = (own.groups, own.bins) if own",
        "groups, bins = ({}, own.bins) if own",
        *VALUES,
    ),
    of("verification/promises.py", "Meaning(tuple(policy.missing_values)", "Meaning(()", *VALUES),
    of("verification/promises.py", "            yield promise\n", "            pass\n        yield from ()\n", *VALUES),
    of(
        "verification/promises.py",
        "(KAnonymity(k) if unit is None else KUnits(unit, k))",
        "KAnonymity(k)",
        *VALUES,
    ),
    of("privacy/t_closeness.py", 'self.distance in (None, "hierarchical")', 'self.distance == "hierarchical"', *VALUES),
    of("policy/policy.py", "        if not value or value in self.missing_values:", "        if not value:", *VALUES),
    of(
        "policy/policy.py",
        "                return protection.counted_as(value, number)",
        "                return number",
        *VALUES,
    ),
    of("policy/policy.py", "with_point(value) if self._has_commas(column) else value", "value", *VALUES),
    of(
        "policy/policy.py",
        "others = (*self.models_of_columns, *self.models_against",
        "others = (*(), *self.models_against",
        *VALUES,
    ),
    of("policy/protection.py", "place = bisect_right(self.bins, number)", "place = 0", *VALUES),
    of(
        "policy/protection.py",
        "return self._group_of.get(value, text) if value is not None else None",
        "return text",
        *VALUES,
    ),
    of("table/numbers.py", 'text.replace(".", "").replace(",", ".")', 'text.replace(",", ".")', *VALUES),
    # releases over time
    of(
        "privacy/history.py",
        "* width + self.histories[counted.codes]",
        "* width",
        *SEVERAL,
    ),
    of("ledger/views.py", "(set(entry.columns) & open_ones or shown_by(entry) & shown)", "False", *SEVERAL),
    of(
        "ledger/earlier.py",
        "absent = known[~among(known, np.concatenate([old, people.persons]))]",
        "absent = known[:0]",
        *SEVERAL,
    ),
    of("ledger/turnover.py", "* 3 + state[old]", "* 3", *SEVERAL),
    of("ledger/turnover.py", "np.full(len(classes), people)", "np.full(len(classes), 1)", *WORLDS),
    of("ledger/turnover.py", "1 + _most_short(", "0 * _most_short(", "unit/ledger/test_turnover.py"),
    of("ledger/turnover.py", "rows = rows[np.bincount(each)[each] < least]", "pass", "unit/ledger/test_turnover.py"),
    of("ledger/store.py", "before = slice(int(ends[place - 1]))", "before = slice(None)", "unit/ledger/test_store.py"),
    of("privacy/history.py", "by_record.all() and not histories.any()", "by_record.all()", *MODELS),
    of("table/class_counts.py", "== len(np.unique(self.codes))", "!= 0", *MODELS),
    of("ledger/outgoing.py", "earlier.number - number >= wait", "earlier.number - number > wait", *SEVERAL),
    of("ledger/refusals.py", "replace(policy, recipient=_SOMEBODY)", "policy", *SEVERAL),
    of("pipeline.py", "check_known(paths.confidential.parent, ledger.ledger)", "pass", *SEVERAL),
    of(
        "ledger/store.py", "except (OSError, AttributeError):", "except ZeroDivisionError:", "unit/ledger/test_store.py"
    ),
    of("ledger/outgoing.py", "if found.releases != mine.releases:", "if False:", *SEVERAL),
    of("ledger/outgoing.py", "        self._verify(earlier, sent)\n", "", "unit/ledger/test_several_releases.py"),
    of(
        "ledger/store.py",
        "fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)",
        "pass",
        "unit/ledger/test_store.py",
    ),
    of("ledger/store.py", "if _digest(data) != entry.files.get(name):", "if False:", "unit/ledger/test_store.py"),
    of(
        "verification/histories.py",
        "max(release.people for release in releases)",
        "releases[-1].people",
        "unit/verification/test_histories.py",
    ),
    of(
        "verification/histories.py",
        "few[person[np.bincount(group[first])[group] < least]] = True",
        "pass",
        "unit/verification/test_histories.py",
    ),
)
