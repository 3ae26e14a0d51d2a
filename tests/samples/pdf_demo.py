"""Writes two small PDFs to build a first collection from.

    python -m tests.samples.pdf_demo FOLDER

Each stands in a corpus folder of its own. The same bytes every time.
"""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from reportlab.lib.pagesizes import A5
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.platypus import Flowable, PageBreak, Paragraph, SimpleDocTemplate


@dataclass(frozen=True)
class Paper:
    """A text of two pages; each page is headings, each with its paragraph."""

    path: str
    title: str
    author: str
    pages: Sequence[Sequence[tuple[str, str]]]


HARBOUR = Paper(
    path="harbour/how-a-harbour-works.pdf",
    title="How a harbour works",
    author="The Atlas authors",
    pages=(
        (
            (
                "Shelter",
                "A harbour is a stretch of water in which ships lie safe from waves. Some harbours "
                "are natural: a bay or a river mouth keeps the sea out. Others are made by "
                "breakwaters, walls of stone or concrete that stand in the sea and take the force "
                "out of the waves before they reach the ships.",
            ),
            (
                "Depth and tides",
                "A ship needs water deeper than its draught, the depth of its keel below the "
                "surface. Harbours silt up, so dredgers clear the channels again and again. Where "
                "the tide rises and falls far, some docks have gates that close at high water and "
                "keep the water in until the next tide.",
            ),
        ),
        (
            (
                "Lighthouses",
                "A lighthouse marks a danger or the way into a harbour. Its lens bends the light "
                "of a lamp into narrow beams; the lens that Augustin Fresnel designed in the 1820s "
                "does so with rings of prisms and far less glass than a solid lens would need. "
                "Most lights flash or go dark in a rhythm. It is called the character of the "
                "light and printed on charts, so that a sailor can tell one light from another.",
            ),
            (
                "Pilots",
                "A pilot is a sailor who knows one harbour: its channels, its currents and its "
                "banks. The pilot boards a ship outside the harbour and advises the master on the "
                "way in. The master stays in command of the ship all the while.",
            ),
        ),
    ),
)

RAILWAY = Paper(
    path="railway/how-railway-signals-work.pdf",
    title="How railway signals work",
    author="The Atlas authors",
    pages=(
        (
            (
                "Why trains need signals",
                "A train runs on steel wheels on steel rails. There is little friction between "
                "them, so a train needs a long way to stop, often more than its driver can see. "
                "Drivers cannot steer around an obstacle either. Signals tell them early enough "
                "whether the line ahead is clear.",
            ),
            (
                "Blocks",
                "A line is divided into blocks. As a rule only one train may be in a block at a "
                "time, and a signal at its beginning shows whether it is free. In the early years "
                "of railways trains were kept apart by time alone: a train could leave so many "
                "minutes after the one before, even if that one had broken down out of sight.",
            ),
        ),
        (
            (
                "Track circuits",
                "A track circuit finds a train by itself. A weak current flows along one rail of "
                "the block, through a relay, and back along the other. The wheels and axles of a "
                "train connect the rails, the relay loses its current and drops, and the signal "
                "shows danger. A broken wire or a dead battery has the same effect: the circuit "
                "fails to the safe side.",
            ),
            (
                "Interlocking",
                "At a junction points and signals depend on each other. An interlocking makes it "
                "impossible to clear a signal unless the points lie and are locked for that route, "
                "and to clear two routes that cross. The first interlockings were frames of levers "
                "with iron bars that blocked one another; later came relays and then computers.",
            ),
        ),
    ),
)


def write_demo(folder: Path) -> None:
    """Write both papers below `folder`, over those that are there."""
    for paper in (HARBOUR, RAILWAY):
        path = folder / paper.path
        path.parent.mkdir(parents=True, exist_ok=True)
        _write(path, paper)


def _write(path: Path, paper: Paper) -> None:
    document = SimpleDocTemplate(
        str(path), pagesize=A5, invariant=1, title=paper.title, author=paper.author, lang="en"
    )
    document.afterFlowable = lambda flowable: _bookmark(document, flowable)
    document.build(_flowables(paper))


def _flowables(paper: Paper) -> list[Flowable]:
    styles = getSampleStyleSheet()
    flowables: list[Flowable] = [Paragraph(paper.title, styles["Title"])]
    for number, page in enumerate(paper.pages):
        flowables += [PageBreak()] * (number > 0)
        for heading, text in page:
            flowables.append(Paragraph(f'<a name="{heading}"/>{heading}', styles["Heading1"]))
            flowables.append(Paragraph(text, styles["BodyText"]))
    return flowables


def _bookmark(document: SimpleDocTemplate, flowable: Flowable) -> None:
    if isinstance(flowable, Paragraph) and flowable.style.name == "Heading1":
        heading = flowable.getPlainText()
        document.canv.addOutlineEntry(heading, heading)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m tests.samples.pdf_demo FOLDER")
    write_demo(Path(sys.argv[1]))
