"""Mistakes that only show where something goes wrong: at the end of a process, in strange files, on closed streams."""

from tests.mutants.mutation import of

THREADS = ("faults/test_arrow_threads.py",)
NESTING = ("faults/test_nesting.py",)
TYPES = ("faults/test_types.py",)
STREAMS = ("faults/test_streams.py",)
LIMITS = ("unit/search/test_limits.py",)
RULES = ("unit/policy/test_contradictions.py",)

FAULTS = (
    of("formats/csv_reader.py", "lent() is not None for lent in self._lent", "False for _ in ()", *THREADS),
    of("formats/csv_reader.py", "        raise stream.failure\n", "        pass\n", *THREADS),
    of("formats/csv_reader.py", "if names and room >= 0:", "if names:", "unit/formats/test_csv_files.py"),
    of(
        "formats/sources.py",
        "            yield with_dictionaries(batch.select(chosen), encoded)\n        self.check_unchanged()\n",
        "            yield with_dictionaries(batch.select(chosen), encoded)\n",
        "unit/formats/test_sources.py",
    ),
    of("formats/json_lines.py", "        self._check_depth(block, start)\n", "", *NESTING),
    of("formats/json_lines.py", "if not _are_objects(data, ends):", "if False:", *NESTING),
    of("formats/json_lines.py", "if path in long and pa.types.is_floating(values.type):", "if False:", *NESTING),
    of("schemas/toml.py", "    if _DEEP.search(text):\n        raise RecursionError\n", "", *NESTING),
    of("formats/usual_types.py", "return pa.decimal128(kind.precision, kind.scale)", "return kind", *TYPES),
    of("formats/usual_types.py", "return _VIEWS.get(str(kind), kind)", "return kind", *TYPES),
    of(
        "formats/usual_types.py",
        "fields.append(field.with_type(stored.field(field.name).type) if same else field)",
        "fields.append(field)",
        *TYPES,
    ),
    of("cli/standard_streams.py", 'sys.stdout.reconfigure(errors="backslashreplace")', "pass", *STREAMS),
    of("cli/standard_streams.py", "(1, os.O_RDONLY)", "(1, os.O_WRONLY)", *STREAMS),
    of(
        "cli/standard_streams.py",
        "            opened = os.open(os.devnull, mode)\n",
        "            continue\n",
        *STREAMS,
    ),
    of("__main__.py", "signal.signal(signal.SIGINT, _interrupted)", "pass", *STREAMS),
    of("search/limits.py", "if short <= int(budget * table.records):", "if True:", *LIMITS),
    of("pipeline.py", "    check_within(release.table, release.recoding)\n", "", *LIMITS),
    of("taxonomies/levels.py", "low = levels <= level", "low = levels < level", *LIMITS),
    of("taxonomies/rules.py", "    if len(kinds) > 1:\n", "    if False:\n", "unit/taxonomies/test_rules.py"),
    of("taxonomies/number_rules.py", "is_number(number) and abs(number) <= most", "is_number(number)", *RULES),
    of("pipeline.py", "    check_harmless(table, policy.models_of_columns, policy.missing_values)\n", "", *RULES),
    of("policy/options.py", 'if master is not None and engine != "spark":', "if False:", *RULES),
    of("cli/groups.py", "    if not text:\n", "    if False:\n", *RULES),
)
