"""The pages of labels and ratings, open in a browser."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, expect

from atlas_search import Atlas
from atlas_search.core.settings import load_settings
from atlas_search.evaluation.labels import Label
from atlas_search.evaluation.people import LabelFile, Ratings, Scale
from atlas_search.server.labelling import (
    LABEL_ROUTES,
    RATING_ROUTES,
    SEARCH_ROUTES,
    Rated,
    label_blueprint,
    page_app,
    rating_blueprint,
)
from atlas_search.server.search import search_blueprint
from tests.replies import reply
from tests.servers import served

KEY = "the-key-of-this-page"


@contextmanager
def label_server(atlas: Atlas, file: Path) -> Iterator[str]:
    """The page of labels; its address without the key."""
    blueprints = {
        label_blueprint(atlas, LabelFile(file)): LABEL_ROUTES,
        search_blueprint(lambda: atlas): SEARCH_ROUTES,
    }
    app = page_app("label.html", atlas.services.settings, {KEY: ""}, blueprints)
    with served(app, threads=8) as address:
        yield address


@contextmanager
def rating_server(
    folder: Path,
    rated: list[Rated],
    scales: Sequence[Scale],
    shares: Mapping[str, Sequence[str]] | None = None,
) -> Iterator[str]:
    """The page of ratings; its address without the key, which is the name of who has `shares`."""
    ratings = Ratings(folder)
    ratings.begin(scales)
    shares = shares or {}
    blueprint = rating_blueprint(ratings, rated, [scale.name for scale in scales], shares, 0)
    keys = {name: name for name in shares} or {KEY: ""}
    app = page_app("rate.html", load_settings(), keys, {blueprint: RATING_ROUTES})
    with served(app, threads=8) as address:
        yield address


def rated(number: int) -> Rated:
    """An answer to be rated, to the question of the label `q<number>`."""
    label = Label(f"q{number}", "test", "tall", f"How tall is light {number}?", ("9 metres",))
    text = f"It is {number} metres tall. [coast.light{number} p1]"
    answer = reply("ANSWER", text, cited=[f"coast.light{number}"], label_id=label.id).answer
    assert answer
    return Rated(label, answer)


def open_labels(context: BrowserContext, address: str, script: str = "", key: str = KEY) -> Page:
    """A new tab with the page, as the printed address opens it, ready to be written in.

    The script, if any, runs before those of the page.
    """
    page = load_labels_page(context, address, script, key)
    # what is typed before the labels are there is lost
    expect(page.locator("form[inert]")).to_have_count(0)
    return page


def load_labels_page(
    context: BrowserContext, address: str, script: str = "", key: str = KEY
) -> Page:
    """A new tab with the page, which may still ask for its labels."""
    page = context.new_page()
    page.add_init_script(script)
    page.goto(f"{address}/#key={key}")
    expect(page.locator("#served, #rater-form")).not_to_have_count(0)
    assert key not in page.url
    return page


def search(page: Page, question: str) -> Locator:
    """Search; the passages."""
    page.get_by_label("Question").fill(question)
    page.get_by_role("button", name="Search", exact=True).click()
    expect(page.get_by_role("status")).to_contain_text("passage")
    return page.locator("article.judged")


def select_words(passage: Locator, words: str) -> None:
    """Select words of a passage as a mouse does."""
    passage.locator(".passage-text").evaluate(
        """(node, words) => {
          const walker = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
          for (let text = walker.nextNode(); text; text = walker.nextNode()) {
            const at = text.data.indexOf(words);
            if (at < 0) continue;
            document.getSelection().setBaseAndExtent(text, at, text, at + words.length);
            return;
          }
          throw new Error(`${words} do not stand there`);
        }""",
        words,
    )
