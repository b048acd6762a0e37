"""Two ways through the studio on a table of one's own: a careful steward, and a data scientist who predicts."""

import random

import pytest
from tests.browser.pages import WIDE, Page
from tests.studio import studio


def patients():
    draw = random.Random(7)
    lines = ["name,age,sex,zip,job,ward,bmi,diagnosis"]
    for number in range(400):
        age = draw.randint(18, 90)
        ill = "hypertension" if age + draw.randint(-20, 20) > 60 else draw.choice(["asthma", "fracture"])
        zip_code, job = f"1{draw.randint(0, 2)}{draw.randint(0, 9)}45", draw.choice(["nurse", "cook", "clerk"])
        ward, bmi = draw.choice("ABC"), draw.randint(180, 350) / 10
        lines.append(f"Pat Smith{number},{age},{draw.choice('fm')},{zip_code},{job},{ward},{bmi},{ill}")
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def running(chromium, tmp_path_factory):
    folder = tmp_path_factory.mktemp("ways")
    (folder / "patients.csv").write_text(patients())
    with studio(folder, "patients.csv") as (process, link):
        yield process, Page(chromium.new_context(viewport=WIDE), link)


def test_a_steward_makes_a_release_and_sees_its_risk(page):
    """From the proposals to the risk before and after, with a promise that cannot be kept on the way."""
    steps = page.page.locator("nav li.done")
    page.see(".column")
    page.expect(steps).to_have_count(1)  # nothing that she has not seen is done
    page.at("Roles").page.get_by_role("button", name="Demographics only").click()
    page.expect(page.page.locator("#said")).to_contain_text("Known to outsiders: age, sex, zip")
    page.expect(steps).to_have_count(2)
    page.at("Protect").change("k", "100,000")
    page.expect(page.page.locator("#wrong-k-0")).to_contain_text("k is 100,000, but the table has only 400 records")
    page.expect(page.page.get_by_text("Settings are valid")).to_have_count(0)
    page.change("k", "4")
    page.expect(page.page.get_by_text("Settings are valid")).to_be_visible()
    page.at("Release").page.get_by_role("button", name="Make the release").click()
    page.see(".promise")
    page.expect(page.page.locator("#in-words tbody tr")).to_have_count(4)  # the ward is a place
    page.at("Risk").page.get_by_role("button", name="Count the risk").click()
    page.expect(page.page.locator(".promise")).to_contain_text("In the release, none are")
    assert page.said == [text for text in page.said if "422" in text]  # the promise that could not be


def test_a_data_scientist_predicts_and_compares(page):
    page.at("Roles").give("diagnosis", "Predict")
    page.at("Release").page.get_by_role("button", name="Make it again").click()
    page.expect(page.page.get_by_text("Up to date with the current settings")).to_be_visible()
    page.at("Utility")
    page.expect(page.page.locator("#predict option:checked")).to_have_text("diagnosis")
    page.page.get_by_role("button", name="Train and test").click()
    page.expect(page.page.locator("#trials figure")).to_contain_text("tree predicts diagnosis")
    page.at("Compare")
    for method in ("tdr", "cover"):
        page.page.locator(f"#try-{method}").uncheck()
    page.page.locator("#ks").fill("4, 8")
    page.page.get_by_role("button", name="Compare", exact=True).click()
    page.expect(page.page.locator("#settings tbody tr")).to_have_count(2)
    page.expect(page.page.locator("#points")).to_contain_text("From k = 4 to k = 8, the least loss goes from")
    page.expect(page.page.locator(".take:not(:disabled)")).to_have_count(2)
