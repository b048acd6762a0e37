"""Packs on paper: printed by a browser, every page says what it is, and nothing is cut off."""

import io
import unicodedata

import pyarrow as pa
import pytest
from tests import chromium as browsers

import incrowd
from incrowd.policy.context import PACKS

pytestmark = [browsers.needed, pytest.mark.filterwarnings("ignore::incrowd.errors.ReleaseWarning")]


@pytest.fixture(scope="module")
def release():
    people = {"age": [20, 21, 30, 31] * 20, "sex": ["f", "m"] * 40, "ill": ["flu", "cold", "gout", "ache"] * 20}
    return incrowd.anonymize(pa.table(people), quasi_identifiers=["age", "sex"], k=4, sensitive=["ill"], method="tdr")


@pytest.mark.parametrize("name", PACKS)
def test_a_pack_prints_as_a_pdf(release, chromium, tmp_path, name):
    from pypdf import PdfReader

    path = release.report(tmp_path / "pack.html", pack=name, context={"approver": "Dr. Meier"})
    page = chromium.new_page()
    page.goto(path.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    paper = PdfReader(io.BytesIO(page.pdf(prefer_css_page_size=True, print_background=True)))
    page.close()
    texts = [" ".join(unicodedata.normalize("NFKC", each.extract_text()).split()) for each in paper.pages]
    for number, text in enumerate(texts, 1):
        assert f"page {number} of {len(texts)}" in text
        assert "CONFIDENTIAL" in text
        assert f"{name}, version 1" in text
    whole = " ".join(texts)
    assert "Dr. Meier" in whole
    assert "[to be filled in]" in whole
    assert "Digest of the release" in whole
