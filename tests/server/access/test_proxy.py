"""The server behind a real Caddy, as the documentation configures it: whose headers count."""

import re
import ssl
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from atlas_search import Atlas
from tests.conftest import free_port
from tests.places import ROOT
from tests.server.listening import listening
from tests.server.two_corpora import QUESTION, guard
from tests.servers import app_of, running, wait_for

HOST = "atlas.example.org"
CADDY = Path(sys.executable).with_name("caddy")
SETTINGS = "admin off\nlocal_certs\nskip_install_trust\nauto_https disable_redirects\nhttps_port "
AUTHORITY = ".local/share/caddy/pki/authorities/local/root.crt"
ASKED = {"question": QUESTION, "qa_id": "q1"}

Send = Callable[..., httpx2.Response]


@contextmanager
def behind_caddy(parish: Atlas, folder: Path, **settings: object) -> Iterator[Send]:
    """A server that takes two requests a minute from each client, and Caddy in front of it.

    The result sends a request by HTTPS from an address of this machine.
    """
    own = {"limit_requests_per_minute": 2, "atlas_allowed_hosts": HOST} | settings
    guarded = guard(parish, None, atlas_state_directory=folder / "state", **own)
    port = free_port()
    with listening(app_of(guarded)) as (host, atlas):
        text = (ROOT / "docs/deploy.md").read_text()
        (site,) = re.findall(rf"^{re.escape(HOST)} \{{\n.*?^\}}\n", text, re.MULTILINE | re.DOTALL)
        site = site.replace("127.0.0.1:8000", f"{host}:{atlas}")
        (folder / "Caddyfile").write_text(f"{{\n{SETTINGS}{port}\n}}\n{site}")

        def send(address: str, method: str, path: str, **options: Any) -> httpx2.Response:
            trust = ssl.create_default_context(cafile=folder / AUTHORITY)
            transport = httpx2.HTTPTransport(verify=trust, local_address=address)
            headers = {"Host": HOST, **options.pop("headers", {})}
            options["extensions"] = {"sni_hostname": HOST}
            url = f"https://127.0.0.1:{port}{path}"
            with httpx2.Client(transport=transport, headers=headers, timeout=60) as client:
                return client.request(method, url, **options)

        def answers() -> bool | None:
            try:
                return send("127.0.0.9", "GET", "/api/live").is_success or None
            except (OSError, httpx2.TransportError):
                return None

        command = (CADDY, "run", "--config", folder / "Caddyfile")
        with running(*command, environment={}, folder=folder) as caddy:
            wait_for(answers, 30, f"Caddy ({caddy.lines})")
            yield send


def test_a_trusted_proxy_says_who_asks_and_how(parish: Atlas, tmp_path: Path) -> None:
    with behind_caddy(parish, tmp_path, trusted_proxies="127.0.0.1") as send:
        assert send("127.0.0.2", "POST", "/api/ask", json=ASKED).status_code == 200
        link = send("127.0.0.2", "POST", "/api/ask/q1/link", json={}).json()["url"]
        assert link.startswith(f"https://{HOST}/api/shared/")
        # Caddy passes on no address that a client claims
        claim = {"X-Forwarded-For": "192.0.2.1"}
        assert send("127.0.0.2", "GET", "/api/corpora", headers=claim).status_code == 429
        path = link.removeprefix(f"https://{HOST}")
        assert send("127.0.0.3", "GET", path).json()["question"] == QUESTION
        assert send("127.0.0.3", "GET", "/api/corpora").status_code == 200
        assert send("127.0.0.3", "GET", "/api/corpora").status_code == 429


def test_a_proxy_that_is_not_trusted_is_one_client(parish: Atlas, tmp_path: Path) -> None:
    with behind_caddy(parish, tmp_path) as send:
        assert send("127.0.0.2", "POST", "/api/ask", json=ASKED).status_code == 200
        link = send("127.0.0.3", "POST", "/api/ask/q1/link", json={}).json()["url"]
        assert link.startswith(f"http://{HOST}/api/shared/")
        assert send("127.0.0.4", "GET", "/api/corpora").status_code == 429
