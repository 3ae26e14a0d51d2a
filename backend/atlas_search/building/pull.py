"""Bringing the live version of a collection here: from a folder, an object store or a server.

A file that a version here has already is linked; every other is checked by its digest while it is
written, with that digest as its name, into `.pulled`. So the next pull goes on where one was ended,
whatever version is live there by then. The version is put together of links, and goes live last.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import xxhash
from pydantic import SecretStr

from atlas_search.core import errors
from atlas_search.core.addresses import address_fault, login_of, without_login
from atlas_search.core.errors import DamagedStore, MissingStore, OutdatedStore
from atlas_search.core.files import writing
from atlas_search.providers.http import checked_key, excerpt, readable_environment
from atlas_search.stores.manifest import FILE_NAME, Manifest, bring_to_disk, readable_manifest
from atlas_search.stores.vectors import link_or_copy
from atlas_search.stores.versions import (
    VERSION,
    CheckedVersion,
    damaged_files,
    go_live,
    lock,
    part_of,
    remove_old,
    versions,
    visible_problem,
)

PULLED = ".pulled"
PIECE = 1 << 20  # bytes in memory at once
BLOCK = 1 << 23  # bytes asked of an object store at once
MANIFEST_PIECES = 256
SECONDS = 60.0  # for a server to send more
_NAME = re.compile(r"(?!\.)[^/\0]+(/(?!\.)[^/\0]+)*")
_DIGEST = re.compile(r"xxh3:([0-9a-f]{32})")

Opens = Callable[[str], AbstractContextManager[Iterator[bytes]]]
"""Opens a file of a collection. Raises FileNotFoundError if there is none, else errors of all
kinds."""


@dataclass(frozen=True)
class RemoteCollection:
    """A collection in another store; `name` is the store's, as it is given."""

    name: str
    collection: str
    opens: Opens

    def manifest(self) -> Manifest:
        """The manifest of the live version.

        Raises OutdatedStore for one of another schema, and DamagedStore for one that is not as it
        was written, or names files outside of its version.
        """
        text = b"".join(islice(self.read(FILE_NAME), MANIFEST_PIECES))
        try:
            manifest = Manifest.parse(text, Path(FILE_NAME))
        except OutdatedStore as error:
            raise OutdatedStore(
                f"{self} was written by another version of Atlas, in a form that this one does not "
                "read. Use the same version of Atlas in both places."
            ) from error
        except DamagedStore as error:
            raise self.damage(FILE_NAME) from error
        for name, digest in manifest.files.items():
            is_named = _NAME.fullmatch(name) and part_of(name) in manifest.sizes
            if not (is_named and _DIGEST.fullmatch(digest) and VERSION.fullmatch(manifest.version)):
                raise self.damage(f"{FILE_NAME}, of {name!r} and {manifest.version!r},")
        return manifest

    def fetch(self, name: str, manifest: Manifest, target: Path) -> Iterator[int]:
        """Write a file to `target`, which is there only once it is whole; gives the bytes so far.

        Raises DamagedStore if it is not as it was written.
        """
        temporary = target.with_suffix(".partial")
        digest, count, most = xxhash.xxh3_128(), 0, manifest.sizes[part_of(name)]
        try:
            with temporary.open("wb") as file:
                for piece in self.read(f"{manifest.version}/{name}"):
                    digest.update(piece)
                    count += len(piece)
                    if count > most:
                        break
                    file.write(piece)
                    yield count
                file.flush()
                os.fsync(file.fileno())
            if count > most or f"xxh3:{digest.hexdigest()}" != manifest.files[name]:
                raise self.damage(name)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)  # a full disk needs the room

    def read(self, path: str) -> Iterator[bytes]:
        """Read a file. Raises MissingStore if there is none, Unavailable if that fails."""
        try:
            with self.opens(path) as pieces:
                yield from pieces
        except FileNotFoundError:
            raise MissingStore(
                f"{without_login(self.name)} has no {self.collection}/{path}. Check --from and the "
                "name; if a build has just ended there, run the same command again."
            ) from None
        except errors.AtlasError:
            raise
        except Exception as error:  # each kind of store has its own
            message = f"{type(error).__name__}: {error}"
            for secret in login_of(self.name):
                message = message.replace(secret, "[login]")
            raise errors.Unavailable(
                f"{path} of {self} cannot be read ({excerpt(message)}). Run the same command "
                "again: it goes on with the files that have come."
            ) from error

    def damage(self, name: str) -> DamagedStore:
        """The error for a file that is not as it was written."""
        return DamagedStore(
            f"{self} is damaged: {name} is not as it was written. What is live here has not "
            f"changed. Run `atlas store verify {self.collection}` there."
        )

    def __str__(self) -> str:
        return f"{self.collection} in {without_login(self.name)}"


def open_remote(place: str, collection: str, key: SecretStr) -> RemoteCollection:
    """The collection of this name in a folder, on an Atlas server, or at a URL that `fsspec` reads.

    A server gets the key. Raises RequestError for an address that is none, and MissingLibrary.
    """
    if place.startswith(("http://", "https://")):
        return RemoteCollection(place, collection, _on_server(place.rstrip("/"), collection, key))
    if "://" in place:
        return RemoteCollection(place, collection, _at_url(place, collection))
    folder = Path(place).expanduser() / collection
    return RemoteCollection(place, collection, lambda path: _in_pieces((folder / path).open("rb")))


@contextmanager
def _in_pieces(opened: BinaryIO) -> Iterator[Iterator[bytes]]:
    with opened as file:
        yield iter(partial(file.read, PIECE), b"")


def _at_url(place: str, collection: str) -> Opens:
    try:
        from fsspec.core import url_to_fs

        store, root = url_to_fs(place, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise errors.MissingLibrary(
            f"{without_login(place)} cannot be opened ({type(error).__name__}: {error}). For s3:// "
            "run `pip install 'atlas-research-search[remote]'`; for others install what it names."
        ) from error
    base = f"{root.rstrip('/')}/{collection}"
    return lambda path: _in_pieces(store.open(f"{base}/{path}", "rb", block_size=BLOCK))


def _on_server(address: str, collection: str, key: SecretStr) -> Opens:
    if fault := address_fault(address):
        raise errors.RequestError(f"The address {without_login(address)} {fault}. Check --from.")
    secret = checked_key(key, "ATLAS_API_KEY")
    headers = {"authorization": f"Bearer {secret}"} if secret else {}
    base = f"{address}/api/collections/{quote(collection, safe='')}/files"

    @contextmanager
    def opens(path: str) -> Iterator[Iterator[bytes]]:
        from httpx2 import Client  # 0.15 s: only who asks a server pays

        with readable_environment():
            client = Client(headers=headers | {"accept-encoding": "identity"}, timeout=SECONDS)
        with client, client.stream("GET", f"{base}/{quote(path)}") as response:
            if response.status_code in (400, 404):  # no such collection, no such file
                raise FileNotFoundError(path)
            if response.status_code in (401, 403):
                raise errors.ConfigurationError(
                    f"{address} gives its files only to an administrator who sees every corpus. "
                    "The key is taken from ATLAS_API_KEY."
                )
            response.raise_for_status()
            yield response.iter_raw(PIECE)

    return opens


def pull(
    folder: Path,
    place: RemoteCollection,
    progress: Callable[[str, int, int], None],
    prepare: Callable[[Manifest], None] = lambda _: None,
) -> tuple[Manifest, int] | None:
    """Make the version that is live in another place live in `folder`, once it is prepared.

    Gives its manifest, and how many files came, for the others were here; None if it was live. The
    one before stays to go back to. Raises BuildRunning, UnwritableFolder, and what
    RemoteCollection raises; what is live has not changed then.
    """
    manifest = place.manifest()
    before, version = readable_manifest(folder), folder / manifest.version
    if before == manifest and not visible_problem(version, manifest):
        return None
    pulled = folder / PULLED
    then = (
        "What is live has not changed. Make room and run the same command again: it goes on with "
        f"the files in {pulled}."
    )
    with lock(folder), writing(folder, sum(manifest.sizes.values()), then):
        pulled.mkdir(exist_ok=True)
        target, wanted = folder / f".{version.name}.partial", list(manifest.files)
        if version.is_dir():  # one to go back to, or what a pull has left that was killed
            target, wanted = version, list(damaged_files(version, manifest, wanted))
        files = {name: pulled / manifest.files[name].partition(":")[2] for name in wanted}
        copied = _bring(folder, place, manifest, files, progress)
        for name, file in files.items():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            _name_again(file, target / name)
        manifest.write(target)
        bring_to_disk(*(path for path in target.rglob("*") if path.is_dir()))
        target.rename(version)
        prepare(manifest)
        go_live(folder, manifest)
        with suppress(OSError):  # it is live; the next one removes them
            shutil.rmtree(pulled)
            if before and before.version != manifest.version:
                remove_old(folder, {manifest.version, before.version})
    return manifest, copied


def _bring(
    folder: Path,
    place: RemoteCollection,
    manifest: Manifest,
    files: Mapping[str, Path],
    progress: Callable[[str, int, int], None],
) -> int:
    """Have each file at its path, linked or fetched; returns how many were fetched."""
    here: dict[str, Path] = {}
    for each in versions(folder):
        if not {manifest.files[name] for name in files}.isdisjoint(each.files.values()):
            version = folder / each.version
            here |= {each.files[n]: version / n for n in CheckedVersion(folder, each).whole()}
    done, copied, total = 0, 0, sum(manifest.sizes.values())
    for name, path in files.items():
        if not path.exists() and manifest.files[name] in here:
            _name_again(here[manifest.files[name]], path)
        elif not path.exists():
            for count in place.fetch(name, manifest, path):
                progress("Pulling bytes", done + count, total)
            copied += 1
        done += path.stat().st_size
        progress("Pulling bytes", done, total)
    return copied


def _name_again(path: Path, target: Path) -> None:
    """Give a file a second name, in the place of a file that may be there, in one step."""
    temporary = target.with_name(f".{target.name}.partial")
    temporary.unlink(missing_ok=True)
    link_or_copy(path, temporary)  # a copy takes its time
    temporary.replace(target)
