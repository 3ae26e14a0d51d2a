"""`%atlas`, in a shell of IPython as a notebook has one."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from pandas import DataFrame
from traitlets.config import Config

from atlas_search import Atlas, AtlasClient
from atlas_search.answer.wire import AnswerDocument
from atlas_search.services import Services

LIBEL = "Can a council sue a newspaper for libel?"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    shell = InteractiveShell(config=Config({"HistoryManager": {"enabled": False}}))
    run(shell, "%load_ext atlas_search.integrations.notebook")
    yield shell
    atlas = shell.user_ns.get("atlas")
    if isinstance(atlas, AtlasClient):
        atlas.close()


def run(shell: InteractiveShell, line: str) -> Any:
    with capture_output():
        done = shell.run_cell(line)
    done.raise_error()
    return done.result


def test_a_line_asks_a_server(shell: InteractiveShell, address: str, services: Services) -> None:
    run(shell, f"%atlas open {address}")
    answer = run(shell, f"%%atlas ask\n{LIBEL}")
    expected = Atlas(services).ask(LIBEL)
    assert isinstance(answer, AnswerDocument)
    assert answer.text == expected.text
    shown = answer._repr_html_()
    assert f'<a href="{expected.citations[0].passage.url}">' in shown
    assert "<mark>" in run(shell, "%atlas search sue a newspaper for libel")._repr_html_()
    assert run(shell, f"atlas.ask({LIBEL!r}).text") == expected.text


def test_words_are_data_frames(shell: InteractiveShell, services: Services) -> None:
    shell.push({"atlas": Atlas(services)})
    for command in ("concordance", "trends", "counts", "collocates"):
        table = run(shell, f"%atlas {command} libel")
        assert isinstance(table, DataFrame)
        assert len(table)


@pytest.mark.parametrize("line", ["", "ask", "erase everything"])
def test_what_is_no_command_is_told(shell: InteractiveShell, line: str) -> None:
    with pytest.raises(Exception, match="give `open NAME`, or one of ask, compare"):
        run(shell, f"%atlas {line}")


def test_the_docstring_names_the_commands() -> None:
    from atlas_search.integrations import notebook

    module = ast.parse(Path(notebook.__file__).read_text(encoding="utf-8"))
    text = ast.get_docstring(module) or ""
    assert all(name in text for name in notebook._METHODS)
