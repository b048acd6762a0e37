"""Mistakes in what goes out and what comes in: row order, containers, files, commitments, schemas, exact values."""

from tests.mutants.mutation import of

ORDER = ("unit/engines/test_row_order.py", "unit/engines/test_shuffle.py")
CONTAINERS = ("unit/formats/test_containers.py", "conformance/test_outflow.py")
FILES = ("unit/formats/test_atomic_files.py",)
COMMITS = "faults/test_publishing.py::test_an_error_at_the_very_commit_is_looked_into"
LAST = "faults/test_publishing.py::test_a_database_that_appears_at_the_last_moment_gets_the_rows_as_well"
PLACES = "unit/formats/test_places.py"
NUMBERS = ("unit/table/test_exact_numbers.py", "unit/table/test_scales.py")
DOCUMENTS = ("unit/schemas/test_documents.py", "unit/schemas/test_shapes.py")
NEW_ROWS = ("property/test_new_rows.py",)
DESCRIBED = ("unit/report/test_dictionary.py",)
SIGNED = ("unit/verification/test_signature.py",)
NAMING = ("unit/inspection/test_leaving.py", "unit/policy/test_untouched.py")

OUTFLOW = (
    # row order
    of(
        "engines/row_order.py",
        "return ascending(Numbering().spread(hashes, order))",
        "return np.arange(len(hashes))",
        *ORDER,
    ),
    of("engines/row_order.py", "return ascending(Numbering().spread(hashes, order))", "return order", *ORDER),
    of(
        "engines/row_order.py",
        "        total += _value_hashes(column, seed_of(name))",
        "        total = total ^ _value_hashes(column, np.uint64(0))",
        *ORDER,
    ),
    of("engines/row_order.py", 'hashes[row] ^= np.uint64(int.from_bytes(digest, "little"))', "pass", *ORDER),
    of("engines/row_order.py", "self._used[entries] += lengths.astype(np.uint64)", "pass", *ORDER),
    of("engines/row_order.py", "hashes[to_numpy(pc.is_null(column))] = nothing", "pass", *ORDER),
    of(
        "engines/arrow/shuffle.py",
        "keys = row_hashes(batch.drop_columns(list(unreleased)))",
        "keys = row_hashes(batch)",
        *ORDER,
        "conformance/test_outflow.py",
    ),
    of(
        "engines/arrow/shuffle.py",
        "yield from _ordered(parts.part(part), folder, level + 1, spread=spread)",
        "yield from parts.part(part)",
        *ORDER,
    ),
    of(
        "engines/arrow/recode.py",
        "places = places[order_of(np.concatenate(hashes))]",
        "pass",
        "conformance/test_outflow.py",
    ),
    of(
        "engines/arrow/recode.py",
        "batches if plan.keep_order else shuffled(batches, hidden, fixed=recoding.names)",
        "batches",
        "unit/engines/test_row_order.py",
    ),
    # containers
    of("formats/containers.py", "used = np.flatnonzero(first[:-1] < rows)", "used = np.arange(size)", *CONTAINERS),
    of("formats/containers.py", "used = used[np.argsort(first[used])]", "pass", *CONTAINERS),
    of(
        "formats/containers.py",
        "return pa.schema([pa.field(field.name, field.type, field.nullable) for field in schema])",
        "return schema",
        *CONTAINERS,
    ),
    of(
        "formats/containers.py",
        'kept = {"index_columns": [],',
        'kept = {"index_columns": notes["index_columns"],',
        *CONTAINERS,
    ),
    of(
        "formats/containers.py",
        'if _is_as_it_was(note.get("field_name", note["name"]), old, new)',
        "if True",
        *CONTAINERS,
    ),
    of(
        "engines/arrow/recode.py",
        "and name not in kept.values else without_unused(column)",
        "and name not in kept.values else column",
        *CONTAINERS,
    ),
    # types
    of(
        "engines/kept_types.py",
        "return values if text_of(values).equals(texts) else None",
        "return values",
        "unit/engines/test_kept_types.py",
    ),
    of(
        "recodings/attributes/partition.py",
        "return cell < len(self.blocks) and self.blocks[cell] == (self.names[cell],)",
        "return cell < len(self.blocks)",
        "unit/recodings/test_unchanged.py",
    ),
    of(
        "recodings/by_tuple.py",
        "if missing or not np.isin(released, hierarchy.as_values).all():",
        "if missing:",
        "conformance/test_kept_types.py",
    ),
    # files
    of("formats/atomic_files.py", "os.O_CREAT | os.O_EXCL | os.O_WRONLY", "os.O_CREAT | os.O_WRONLY", *FILES),
    of("formats/atomic_files.py", "os.O_EXCL | os.O_WRONLY, 0o600", "os.O_EXCL | os.O_WRONLY, 0o644", *FILES),
    of("formats/atomic_files.py", "if target in self._staged:", "if False:", *FILES),
    of(
        "formats/atomic_files.py",
        "if not links and target.is_symlink():",
        "if False:",
        *FILES,
        "unit/release/test_release_files.py",
    ),
    of("formats/atomic_files.py", "if source.exists() and target.samefile(source):", "if source == target:", *FILES),
    of("formats/staging.py", "os.O_TMPFILE | os.O_RDWR, 0o600", "os.O_TMPFILE | os.O_RDWR, 0o666", *FILES),
    of(
        "formats/staging.py",
        "os.mkdir(self.path, 0o700)",
        "os.mkdir(self.path, 0o755)",
        *FILES,
        "faults/test_crashes.py::test_a_kill_at_any_call_leaves_all_files_old_or_all_new",
    ),
    of(
        "formats/staging.py",
        "        os.chmod(self.path, self.mode)\n",
        "",
        *FILES,
        "unit/release/test_release_files.py",
    ),
    of(
        "formats/staging.py",
        "        for move in reversed(made[:-1]):",
        "        for move in reversed(made[:0]):",
        *FILES,
    ),
    of(
        "formats/staging.py",
        "ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077",
        "ours = True",
        *FILES,
    ),
    of("formats/staging.py", "if not waiting and time.time() - folder.stat().st_mtime < _OLD:", "if False:", *FILES),
    of(
        "formats/staging.py",
        "if not replaces and os.path.lexists(file.target):",
        "if False:",
        *FILES,
        equivalent="the move itself fails where a file is in the way, and what was moved before is taken back",
    ),
    of("formats/staging.py", "if manifest.proof is not None:", "if False:", COMMITS),
    of("formats/staging.py", "        if not done:\n", "        if False:\n", COMMITS),
    of("formats/staging.py", "for other in self.folders[1:]:", "for other in ():", "unit/formats/test_atomic_files.py"),
    of(
        "formats/staging.py",
        "if os.getpid() == process and not (path / _MANIFEST).exists():",
        "if os.getpid() == process:",
        "unit/formats/test_atomic_files.py",
    ),
    of("formats/databases.py", '== proof["digest"]', '!= proof["digest"]', COMMITS),
    of("formats/atomic_files.py", "if done := output is None or output.is_ready:", "if done := True:", LAST),
    of(
        "formats/sqlite_files.py",
        "self._undone = _undo_what_was_cut_off(self.database.file)",
        "self._undone = True",
        "faults/test_publishing.py::test_a_full_disk_while_sqlite_writes_what_it_cannot_hold_in_memory",
    ),
    of("formats/databases.py", "{self.name}#{table}.table", "{self.file.stem}.{table}.table", PLACES),
    of("formats/postgres.py", 'parts.netloc.rpartition("@")[2].lower()', '""', PLACES),
    of("release/files.py", "if (other := self.owner()) is not None:", "if (other := None) is not None:", PLACES),
    of("release/files.py", "        if self.owner() is not None:\n            return\n", "", PLACES),
    of("pipeline.py", "files.check(paths.check_own)", "pass", PLACES),
    of(
        "release/files.py",
        "OWNER_FOLDER, OWNER_FILE = 0o700, 0o600",
        "OWNER_FOLDER, OWNER_FILE = 0o755, 0o644",
        "unit/release/test_release_files.py",
    ),
    of("release/files.py", "if path not in kept:", "if False:", "unit/release/test_release_files.py"),
    of(
        "release/sidecars.py",
        "recoding.for_new_rows.to_json()",
        "recoding.to_json()",
        "unit/release/test_release_files.py",
    ),
    of(
        "pipeline.py",
        "return given, witness.verdict().require()",
        "return given, witness.verdict()",
        "unit/release/test_release_files.py",
    ),
    of(
        "formats/sources.py",
        "return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns",
        "return (found.st_size, 0)",
        "unit/formats/test_sources.py",
        "faults/test_inputs.py",
    ),
    of(
        "formats/sources.py",
        "found.st_size, found.st_mtime_ns, found.st_ctime_ns",
        "found.st_size, found.st_mtime_ns, found.st_mtime_ns",
        "unit/formats/test_sources.py",
        "faults/test_inputs.py",
    ),
    of(
        "formats/sources.py",
        "if path.exists() and not path.is_file():",
        "if False:",
        "faults/test_inputs.py::test_a_table_that_is_a_pipe_or_a_device[device]",
        "unit/formats/test_sources.py",
    ),
    # commitment
    of(
        "verification/certificate.py",
        "secrets.token_bytes(SALT_BYTES) if salt is None else salt",
        "bytes(SALT_BYTES) if salt is None else salt",
        "unit/verification/test_certificate.py",
    ),
    of(
        "verification/certificate.py",
        "hmac.digest(self.salt, self.digest.encode(), 'sha256')",
        "hmac.digest(b'x', self.digest.encode(), 'sha256')",
        "unit/verification/test_certificate.py",
    ),
    of(
        "verification/certificate.py",
        "return hmac.compare_digest(self.commitment, Commitment(salt, original).public)",
        "return True",
        "unit/verification/test_certificate.py",
    ),
    of(
        "verification/recipient.py",
        "return all(claim.holds is not False for claim in self.claims)",
        "return any(claim.holds is not False for claim in self.claims)",
        "unit/verification/test_certificate.py",
    ),
    of(
        "verification/recipient.py",
        "same = source.fingerprint() == certificate.output",
        "same = True",
        "unit/verification/test_certificate.py",
    ),
    # schemas
    of("schemas/documents.py", 'if digest != document["digest"]:', "if False:", *DOCUMENTS),
    of("schemas/documents.py", "if len(table) < len(pairs):", "if False:", *DOCUMENTS),
    of("schemas/documents.py", "if len(data) > self.megabytes * _MEGABYTE:", "if False:", *DOCUMENTS),
    of("schemas/documents.py", "parse_constant=_no_constant", "parse_constant=float", *DOCUMENTS),
    of(
        "schemas/shapes.py",
        "return isinstance(value, int) and not isinstance(value, bool) and self.least <= value <= self.most",
        "return isinstance(value, int) and self.least <= value <= self.most",
        *DOCUMENTS,
    ),
    of("schemas/shapes.py", "self._compiled.fullmatch(value)", "self._compiled.match(value)", *DOCUMENTS),
    # missing values and exact numbers
    of(
        "engines/arrow/compress.py",
        'if plan.missing != "category":',
        'if plan.missing == "error":',
        "unit/table/test_missing.py",
    ),
    of(
        "table/missing.py",
        "missing = pc.is_null(values, nan_is_null=True)",
        "missing = pc.is_null(values)",
        "unit/table/test_missing.py",
        "unit/formats/test_frames.py",
    ),
    of(
        "table/exact_numbers.py",
        'if all(array.dtype.kind == "f" or is_small(array) for array in (a, b)):',
        "if True:",
        *NUMBERS,
    ),
    of("table/exact_numbers.py", "& (np.abs(numbers) < _SAFE)", "", *NUMBERS),
    of(
        "table/exact_numbers.py",
        '        return numbers + 0.0  # no negative zero\n    if numbers.dtype.kind in "iu" and',
        '        return numbers\n    if numbers.dtype.kind in "iu" and',
        *NUMBERS,
        "property/test_exact_values.py",
    ),
    of(
        "table/scales.py",
        "if len(numbers) and numbers.max() >= 1 << 63 else numbers.astype(np.int64)",
        "if False else numbers.astype(np.int64)",
        *NUMBERS,
    ),
    # scikit-learn
    of(
        "sklearn.py",
        "if keep is not None:\n        raise PolicyError",
        "if False:\n        raise PolicyError",
        "unit/test_sklearn.py",
    ),
    of("sklearn.py", 'if self.missing == "drop":', "if False:", "unit/test_sklearn.py"),
    of("sklearn.py", "witness.verdict().require()", "witness.verdict()", "unit/test_sklearn.py"),
    # what names people
    of(
        "pipeline.py",
        "look = look_at(source, policy, run).require(policy.keep, source.name)",
        "look = look_at(source, policy, run)",
        *NAMING,
    ),
    of("inspection/first_look.py", "if name not in keep}", "if False}", *NAMING),
    of(
        "inspection/first_look.py",
        "passing = policy.passing(source.columns)",
        "passing = policy.untouched(source.columns)",
        *NAMING,
    ),
    of("inspection/first_look.py", "return CHANGING * changing <= int(several.sum())", "return False", *NAMING),
    of("inspection/findings.py", "NEAR_UNIQUE = 0.2", "NEAR_UNIQUE = 0.3", *NAMING),
    of(
        "inspection/findings.py",
        "if (first is None or first.kind not in DIRECT) and (kind := facts.called) is not None:",
        "if False:",
        *NAMING,
        "unit/inspection/test_findings.py",
    ),
    of(
        "release/release.py",
        "return look_at(self.source, self.policy, Run()).require(self.policy.keep, self.source.name)",
        "return Look()",
        *NAMING,
    ),
    of("recodings/by_class.py", "lacks = ~covers.any(axis=1)", "lacks = covers.any(axis=1)", *NEW_ROWS),
    of("recodings/by_class.py", 'loss, kind="stable")', '-loss, kind="stable")', *NEW_ROWS),
    of(
        "recodings/by_class.py",
        "planes[digit], carry = plane ^ carry,",
        "planes[digit], carry = plane | carry,",
        *NEW_ROWS,
        equivalent="numbers are then counted in strokes, which stand in the same order",
    ),
    of("recodings/released_values.py", "(stop[order] >= high[some, None])", "True", *NEW_ROWS),
    of("recodings/released_values.py", 'places(after, numbers, "left")', 'places(after, numbers, "right")', *NEW_ROWS),
    of("release/apply.py", "int(records[~known].sum())", "int(records[known].sum())", *NEW_ROWS),
    of("release/apply.py", "look_at(source, here, run).require(policy.keep, source.name)", "pass", *NAMING),
    of("cli/anonymize.py", "before=lambda: seen.update(_before_writing(release, shown)),", "before=None,", *NAMING),
    of("verification/signature.py", """!= document["files"]:""", """!= document["files"] and False:""", *SIGNED),
    of("verification/signature.py", "    if signer != who:", "    if False:", *SIGNED),
    of("verification/signature.py", "stat.S_IMODE(mode) & 0o077", "stat.S_IMODE(mode) & 0o007", *SIGNED),
    of(
        "report/packs/blocks.py",
        "case.context.get(name))",
        'case.context.get(name, "none"))',
        "unit/report/test_packs.py",
    ),
    of(
        "report/dictionary/described.py",
        "labels[label]) for label in _in_order(kind, labels)",
        "labels[label]) for label in labels",
        *DESCRIBED,
    ),
    of("report/dictionary/described.py", "if label not in missing}", "}", *DESCRIBED),
    of("report/dictionary/ddi.py", '_ILLEGAL.sub("\\ufffd", text)', "text", *DESCRIBED),
)
