"""Results and progress in a real kernel: every cell shows its result once, as HTML with one line of text."""

import nbformat
import pytest
from nbclient import NotebookClient

BEGIN = """
import incrowd
from incrowd.report import progress
german = incrowd.datasets.german()
release = incrowd.anonymize(
    german, quasi_identifiers=["age", "job"], k=10, keep=["credit-amount"], target="credit", method="tdr"
)
progress.PATIENCE = progress.OFTEN = 0.0
"""
RESULTS = {
    "release": "release",
    "inspection": "incrowd.inspect(german, progress=False)",
    "why": "release.why('age')",
    "risk": "release.risk()",
    "changes": "release.changes()",
    "verification": "incrowd.verify(german, quasi_identifiers=['age', 'job'], k=2)",
    "evaluation": "incrowd.evaluate(german, quasi_identifiers=['age'], k=9, target='credit', method='tdr', "
    "classifiers=['tree'], keep=['credit-amount'], progress=False)",
    "comparison": "incrowd.compare(german, quasi_identifiers=['age'], methods=['tdr'], ks=[9], "
    "keep=['credit-amount'], progress=False)",
    "attacks": "release.attack(trials=50, again=None)",
    "certificate": "release.certificate",
    "recoding": "release.recoding",
    "taxonomy": "incrowd.Taxonomy.flat(['a', 'b'])",
}
OTHERS = {
    "printed": "print(release)",
    "silent": "text = str(release) + release.summary()",
    "watched": "incrowd.anonymize(german, quasi_identifiers=['age'], k=9, keep=['credit-amount'], method='tdr').policy",
}


@pytest.fixture(scope="module")
def shown():
    """The outputs of each cell, and what was shown while it ran."""
    cells = [nbformat.v4.new_code_cell(code) for code in (BEGIN, *RESULTS.values(), *OTHERS.values())]
    client = Kernel(nbformat.v4.new_notebook(cells=cells), timeout=120, kernel_name="python3")
    client.execute()
    names = ("begin", *RESULTS, *OTHERS)
    return {
        name: (cell.outputs, client.seen.get(place, []))
        for place, (name, cell) in enumerate(zip(names, cells, strict=True))
    }


class Kernel(NotebookClient):
    """A client that keeps what is shown and replaced later, as a bar is."""

    def process_message(self, message, cell, place):
        if message["msg_type"] in ("display_data", "update_display_data"):
            self.seen = {**getattr(self, "seen", {})}
            self.seen.setdefault(place, []).append(message["content"]["data"])
        return super().process_message(message, cell, place)


@pytest.mark.parametrize("name", RESULTS)
def test_a_cell_shows_its_result_once(shown, name):
    outputs, _ = shown[name]
    results = [each for each in outputs if each.output_type == "execute_result"]
    assert len(results) == 1
    assert not [each for each in outputs if each.output_type in ("stream", "error")]
    assert 'class="incrowd"' in results[0].data["text/html"]
    assert len(results[0].data["text/plain"].splitlines()) == 1
    assert len(results[0].data["text/plain"]) <= 250


def test_printing_is_text_and_asking_for_text_prints_nothing(shown):
    ((stream,), _) = shown["printed"]
    assert stream.name == "stdout"
    assert "changes by column" in stream.text
    assert shown["silent"][0] == []


def test_a_bar_shows_progress_and_is_gone_when_the_job_is_done(shown):
    outputs, seen = shown["watched"]
    assert any("<progress" in each["text/html"] and "searching" in each["text/plain"] for each in seen)
    assert seen[-1] == {"text/html": "", "text/plain": ""}
    assert [each.data.get("text/html") for each in outputs if each.output_type == "display_data"] == [""]
