"""The first view of the page: how much it asks for, and of whom."""

from playwright.sync_api import Browser, Response, expect

from tests.page.watching import watched

MOST_REQUESTS = 12
MOST_BYTES = 90_000  # on the wire: headers, and bodies as they are sent


def test_the_first_view_is_light_and_all_of_it_is_the_servers_own(
    browser: Browser, server: str
) -> None:
    responses: list[Response] = []
    sizes: list[float] = []
    # no other test has these options: this browser has nothing in its cache
    with watched(browser, viewport={"width": 1279, "height": 720}) as context:
        page = context.new_page()
        page.on("response", lambda response: responses.append(response))
        network = context.new_cdp_session(page)
        network.on("Network.loadingFinished", lambda end: sizes.append(end["encodedDataLength"]))
        network.send("Network.enable")
        page.goto(server)
        expect(page.locator("select#target option").first).to_be_attached()
        page.wait_for_load_state("networkidle")
        assert all(response.url.startswith(server) for response in responses)
    paths = [response.url.removeprefix(server) for response in responses]
    print(f"first view: {len(sizes)} requests, {sum(sizes):,.0f} bytes: {paths}")
    assert all(size > 0 for size in sizes)
    assert sum("/api/" in response.url for response in responses) >= 4
    assert 8 <= len(sizes) <= MOST_REQUESTS
    assert sum(sizes) < MOST_BYTES
