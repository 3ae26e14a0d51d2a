"""Settings of Sphinx, which builds these pages into a site: `make docs`."""

import re

from sphinx.application import Sphinx

project = "Atlas"
extensions = ["myst_parser"]
html_theme = "furo"
html_title = "Atlas"
root_doc = "docs/index"
include_patterns = ["*.md", "docs/*.md"]
myst_heading_anchors = 4
suppress_warnings = ["misc.highlighting_failure"]  # a diagram of Mermaid is shown as text

_SECTION = r"^## (.+)\n((?:(?!## ).*\n?)*)"
_PAGE = r"^- \[(.*?)\]\((\S+)\.md\)"


def setup(app: Sphinx) -> None:
    """Make the lists of the index the order of the site."""
    app.connect("source-read", _order)


def _order(_app: Sphinx, name: str, source: list[str]) -> None:
    if name == root_doc:
        for heading, section in re.findall(_SECTION, source[0], re.MULTILINE):
            listed = re.findall(_PAGE, section, re.MULTILINE)
            pages = "\n".join(f"{title} <{page}>" for title, page in listed)
            options = f":hidden:\n:caption: {heading}"
            source[0] += f"\n```{{toctree}}\n{options}\n\n{pages}\n```\n"
