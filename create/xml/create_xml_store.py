"""Build a collection from XML files."""

from typing import Annotated

import typer

from create.command import run, store_command
from create.xml.read import XmlReader


def xml_reader(
    normalised: Annotated[
        bool,
        typer.Option(
            "--normalised/--as-printed",
            help="TEI with both readings: take regularised, corrected and expanded words",
        ),
    ] = False,
    documents_at: Annotated[
        str,
        typer.Option(
            help="TEI and unknown XML: every element of this name is a document of its own"
        ),
    ] = "",
) -> XmlReader:
    """Build a collection from XML files: TEI, and the Hansards of several parliaments."""
    return XmlReader(normalised=normalised, documents_at=documents_at)


create_xml_store = store_command("xml", xml_reader)

if __name__ == "__main__":
    run(create_xml_store)
