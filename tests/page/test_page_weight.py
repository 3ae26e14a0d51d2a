"""What the first view of the page weighs, and where it is from."""

import gzip

from playwright.sync_api import Browser, Response, expect

MOST_BYTES = 100_000  # gzipped


def test_the_first_view_is_light_and_all_of_it_is_the_servers_own(
    browser: Browser, server: str
) -> None:
    responses: list[Response] = []
    page = browser.new_page()
    page.on("response", lambda response: responses.append(response))
    page.goto(server)
    expect(page.locator("select#target option").first).to_be_attached()
    page.wait_for_load_state("networkidle")
    assert all(response.url.startswith(server) for response in responses)
    parts = [response.body() for response in responses if "/api/" not in response.url]
    assert len(parts) > 20
    assert sum(len(gzip.compress(part)) for part in parts) < MOST_BYTES
    page.close()
