"""What `docs/connect.md` says to copy, run as it stands."""

import json
import re

import pytest
import yaml

from tests.places import ROOT

PAGE = (ROOT / "docs" / "connect.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", blocks("python"))
def test_a_block_of_python_runs(
    address: str, block: str, capsys: pytest.CaptureFixture[str]
) -> None:
    exec(compile(block.replace(ADDRESS, address), "docs/connect.md", "exec"), {})
    assert "cannot sue" in capsys.readouterr().out


def test_the_settings_of_clients_can_be_read() -> None:
    (servers,) = blocks("json")
    assert json.loads(servers)["mcpServers"]["atlas"]["args"] == ["mcp", "--url", ADDRESS]
    (librechat,) = blocks("yaml")
    (endpoint,) = yaml.safe_load(librechat)["endpoints"]["custom"]
    assert endpoint["baseURL"] == f"{ADDRESS}/v1"
