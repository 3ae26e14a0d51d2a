"""The report of an evaluation in a real Chromium: alone, in both schemes, and on a telephone."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page

from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.report_files import write_reports
from tests.evaluation.reported import LIGHTS, QUESTIONS, failed, made, right, wrong

pytestmark = [pytest.mark.browser, pytest.mark.thorough]

PLOTS = {"one": 5, "several": 5}
LONG = "w" * 10_000


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report of one run, whose labels mean harm, and that of several."""
    root = tmp_path_factory.mktemp("reports")
    category, question = f"<img src=http://x.invalid>{LONG}", f"<script>1{LONG}"
    gold = frozenset({f"coast.{LONG}"})
    hostile = Label("<b>q9</b>", "dev", category, question, ("a",), gold)
    replies = {
        "q1": wrong(LIGHTS[1]),
        "q3": failed(LIGHTS[3], LONG),
        hostile.id: wrong(hostile),
    }
    one = made(root / "one", replies, (*QUESTIONS, hostile)).path
    several = [
        made(root / f"k{k}", {"q1": wrong(LIGHTS[1]), "q2": right(LIGHTS[2], 0.3)}, id=f"k{k}",
             options={"search_k": k}).path
        for k in (3, 5)
    ]  # fmt: skip
    assert write_reports(one).faults == ()
    assert write_reports(*several, out=root / "several").faults == ()
    return {name: root / name / "report.html" for name in PLOTS}


@pytest.fixture(params=["light", "dark"])
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page in one of the schemes; a script error or any request but its own fails the test."""
    scheme: Literal["light", "dark"] = request.param
    faults: list[str] = []
    context = browser.new_context(color_scheme=scheme, viewport={"width": 400, "height": 800})
    opened = context.new_page()
    opened.on("console", lambda message: faults.append(message.text))
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("request", lambda asked: faults.append(asked.url))
    yield opened
    context.close()
    assert [fault for fault in faults if not fault.startswith("file://")] == []


@pytest.mark.parametrize("name", PLOTS)
def test_the_report_fits_a_telephone_and_its_plots_are_told(
    page: Page, reports: dict[str, Path], name: str
) -> None:
    page.goto(reports[name].as_uri())
    for details in page.locator("details").all():
        details.evaluate("each => { each.open = true }")
    assert page.evaluate("document.documentElement.scrollWidth") <= 400
    plots = page.locator("figure.plot")
    assert plots.count() == PLOTS[name]
    for plot in plots.all():
        picture = plot.get_by_role("img")
        assert len(picture.get_attribute("aria-label") or "") > 40
        assert plot.locator("tbody tr").count() > 0
    assert page.locator("script").count() == page.locator("img").count() == 0
    for link in page.locator("nav a").all():
        assert page.locator(link.get_attribute("href") or "").count() == 1
