"""Build a collection from text and Markdown files: one sub-folder of SOURCE per corpus."""

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from backend.embedding.local import LocalEmbedder
from backend.errors import AtlasError
from backend.settings import load_settings
from create.build import Options, build
from create.report import print_report, progress_bar, write_readable
from create.txt.read import read_folder

OUTPUT = Path(__file__).parent / "output"


def create_txt_store(
    source: Annotated[Path, typer.Argument(help="Folder with one sub-folder per corpus")],
    collection: Annotated[str, typer.Option(help="Name of the collection to build")],
    chunk_size: Annotated[int, typer.Option(help="Characters per passage")] = Options.size,
    chunk_overlap: Annotated[
        int, typer.Option(help="Characters repeated from the passage before")
    ] = Options.overlap,
    force: Annotated[bool, typer.Option(help="Build even if nothing has changed")] = False,
    every_file: Annotated[bool, typer.Option(help="List every file, not only skipped ones")] = True,
) -> None:
    """Build a collection from text and Markdown files (YAML front matter is metadata)."""
    console = Console(stderr=True)
    try:
        settings = load_settings(chroma_collection_name=collection)
        options = Options(collection, chunk_size, chunk_overlap, force)
        documents = read_folder(source)
        embedder = LocalEmbedder(settings.embedding_model)
        with progress_bar(console) as progress:
            report = build(settings.collection_folder, documents, embedder, options, progress)
    except AtlasError as error:
        console.print(str(error), style="red", markup=False)
        sys.exit(1)
    readable = OUTPUT / f"{collection}.txt"
    write_readable(readable, report.manifest)
    print_report(console, report, every_file=every_file)
    console.print(f"Manifest: {settings.collection_folder / 'manifest.json'} and {readable}")


if __name__ == "__main__":
    typer.run(create_txt_store)
