"""What the first view of the page weighs on its way, and where it is from."""

from playwright.sync_api import Browser, Response, expect

from tests.page.watching import watched

MOST_BYTES = 101_000  # of all bodies, as they are sent
SENT = """() => performance.getEntriesByType('resource')
  .concat(performance.getEntriesByType('navigation'))
  .map(({ name, encodedBodySize }) => [name, encodedBodySize])"""


def test_the_first_view_is_light_and_all_of_it_is_the_servers_own(
    browser: Browser, server: str
) -> None:
    responses: list[Response] = []
    # no other test has these options: this browser has nothing in its cache
    with watched(browser, viewport={"width": 1279, "height": 720}) as context:
        page = context.new_page()
        page.on("response", lambda response: responses.append(response))
        page.goto(server)
        expect(page.locator("select#target option").first).to_be_attached()
        page.wait_for_load_state("networkidle")
        assert all(response.url.startswith(server) for response in responses)
        sent = dict(page.evaluate(SENT))
    assert len(sent) > 40
    api = {name: size for name, size in sent.items() if "/api/" in name}
    assert len(api) >= 4
    assert all(size > 0 for size in sent.values())
    page_bytes, api_bytes = sum(sent.values()) - sum(api.values()), sum(api.values())
    print(f"first view: {page_bytes:,} bytes of its own files, {api_bytes:,} of the API")
    assert page_bytes + api_bytes < MOST_BYTES
