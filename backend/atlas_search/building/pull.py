"""Bringing the live version of a collection here: from a folder, an object store or a server.

A file that a version here has already is linked; every other is checked by its digest while it is
written, with that digest as its name, into `.pulled`. So the next pull goes on where one was ended,
whatever version is live there by then. The version is put together of links, and goes live last.
"""

import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import BinaryIO
from urllib.parse import quote

import xxhash
from pydantic import SecretStr

from atlas_search.core.addresses import address_fault, login_of, without_login
from atlas_search.core.errors import (
    AtlasError,
    ConfigurationError,
    DamagedStore,
    MissingLibrary,
    MissingStore,
    OutdatedStore,
    RequestError,
    Unavailable,
)
from atlas_search.core.files import writing
from atlas_search.providers.http import checked_key, excerpt, readable_environment
from atlas_search.stores.manifest import FILE_NAME, Manifest, bring_to_disk
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
LONGEST_MANIFEST = 1 << 28
SECONDS = 60.0  # for a server to send more
STAGE = "Pulling bytes"
_DIGEST = re.compile(r"xxh3:[0-9a-f]{32}")

Opens = Callable[[str], AbstractContextManager[Iterator[bytes]]]
"""Opens a file of a collection. Raises FileNotFoundError if there is none, and errors of all
kinds."""


@dataclass(frozen=True)
class Place:
    """A collection in another store; `name` is the store's for people, without the `secrets`."""

    name: str
    collection: str
    opens: Opens
    secrets: Sequence[str] = ()

    def manifest(self) -> Manifest:
        """The manifest of the live version.

        Raises OutdatedStore for one of another schema, and DamagedStore for one that is not as it
        was written, or names files outside of its version.
        """
        text = bytearray()
        for piece in self._read(FILE_NAME):
            text += piece
            if len(text) > LONGEST_MANIFEST:
                raise self._damaged(f"{FILE_NAME} is too long")
        try:
            manifest = Manifest.parse(bytes(text), Path(FILE_NAME))
        except OutdatedStore as error:
            raise OutdatedStore(
                f"{self.collection} in {self.name} was written by another version of Atlas, in a "
                "form that this one does not read. Use the same version of Atlas in both places."
            ) from error
        except DamagedStore as error:
            raise self._damaged(f"{FILE_NAME} is not as it was written") from error
        bad = [name for name in manifest.files if not _is_inside(name, manifest)]
        if bad or not VERSION.fullmatch(manifest.version):
            named = next(iter(bad), manifest.version)
            raise self._damaged(f"{FILE_NAME} names {named!r}, which no version has")
        return manifest

    def fetch(
        self, name: str, manifest: Manifest, target: Path, tell: Callable[[int], None]
    ) -> int:
        """Write a file of a version to `target`, which is there only once it is whole.

        `tell` is given the bytes so far; returns all. Raises DamagedStore if it is not as written.
        """
        part = target.with_suffix(".partial")
        digest, count, most = xxhash.xxh3_128(), 0, manifest.sizes[part_of(name)]
        try:
            with part.open("wb") as file:
                for piece in self._read(f"{manifest.version}/{name}"):
                    count += len(piece)
                    digest.update(piece)
                    if count > most:
                        break
                    file.write(piece)
                    tell(count)
                file.flush()
                os.fsync(file.fileno())
            if count > most or f"xxh3:{digest.hexdigest()}" != manifest.files[name]:
                raise self._damaged(f"{name} is not as it was written")
        except BaseException:
            part.unlink(missing_ok=True)  # a full disk needs the room
            raise
        part.replace(target)
        return count

    def _read(self, path: str) -> Iterator[bytes]:
        """Read a file. Raises MissingStore if there is none, Unavailable if that fails."""
        try:
            with self.opens(path) as pieces:
                yield from pieces
        except FileNotFoundError:
            raise MissingStore(
                f"{self.name} has no {self.collection}/{path}. Check --from and the collection's "
                "name; if a build has just ended there, run the same command again."
            ) from None
        except AtlasError:
            raise
        except Exception as error:  # each kind of store has its own
            message = f"{type(error).__name__}: {error}"
            for secret in self.secrets:
                message = message.replace(secret, "[login]")
            raise Unavailable(
                f"{self.collection}/{path} in {self.name} cannot be read ({excerpt(message)}). Run "
                "the same command again: it goes on with the files that have come."
            ) from error

    def _damaged(self, fault: str) -> DamagedStore:
        return DamagedStore(
            f"{self.collection} in {self.name} is damaged: {fault}. What is live here has not "
            f"changed. Run `atlas store verify {self.collection}` there."
        )


def _is_inside(name: str, manifest: Manifest) -> bool:
    """Return whether a file of a manifest lies in a part of its version, and has a digest."""
    path = PurePosixPath(name)
    return (
        str(path) == name
        and bool(path.parts)
        and not path.is_absolute()
        and not {"..", FILE_NAME}.intersection(path.parts)
        and "\0" not in name
        and part_of(name) in manifest.sizes
        and _DIGEST.fullmatch(manifest.files[name]) is not None
    )


def open_place(place: str, collection: str, key: SecretStr) -> Place:
    """The collection of this name in a folder, on an Atlas server, or at a URL that `fsspec` reads.

    A server gets the key. Raises RequestError for an address that is none, and MissingLibrary.
    """
    if place.startswith(("http://", "https://")):
        return Place(place, collection, _on_server(place.rstrip("/"), collection, key))
    if "://" in place:
        shown = without_login(place)
        return Place(shown, collection, _at_url(place, shown, collection), login_of(place))
    folder = Path(place).expanduser() / collection
    return Place(place, collection, lambda path: _in_pieces((folder / path).open("rb")))


@contextmanager
def _in_pieces(opened: BinaryIO) -> Iterator[Iterator[bytes]]:
    with opened as file:
        yield iter(partial(file.read, PIECE), b"")


def _at_url(place: str, shown: str, collection: str) -> Opens:
    try:
        from fsspec.core import url_to_fs

        store, root = url_to_fs(place, use_listings_cache=False)
    except (ImportError, ValueError) as error:
        raise MissingLibrary(
            f"{shown} cannot be opened ({type(error).__name__}: {error}). For s3:// run "
            "`pip install 'atlas-research-search[remote]'`; for others install what it names."
        ) from error
    base = f"{root.rstrip('/')}/{collection}"
    return lambda path: _in_pieces(store.open(f"{base}/{path}", "rb", block_size=BLOCK))


def _on_server(address: str, collection: str, key: SecretStr) -> Opens:
    if fault := address_fault(address):
        raise RequestError(f"The address {without_login(address)} {fault}. Check --from.")
    secret = checked_key(key, "ATLAS_API_KEY")
    headers = {"accept-encoding": "identity"}
    headers |= {"authorization": f"Bearer {secret}"} if secret else {}
    base = f"{address}/api/collections/{quote(collection, safe='')}/files"

    @contextmanager
    def opens(path: str) -> Iterator[Iterator[bytes]]:
        from httpx2 import Client, codes  # 0.15 s: only who asks a server pays

        with readable_environment():
            client = Client(headers=headers, timeout=SECONDS)
        with client, client.stream("GET", f"{base}/{quote(path)}") as response:
            if response.status_code in (codes.NOT_FOUND, codes.BAD_REQUEST):  # no such collection
                raise FileNotFoundError(path)
            if response.status_code in (codes.UNAUTHORIZED, codes.FORBIDDEN):
                raise ConfigurationError(
                    f"{address} gives its files only to an administrator who sees every corpus. "
                    "The key is taken from ATLAS_API_KEY."
                )
            response.raise_for_status()
            yield response.iter_raw(PIECE)

    return opens


@dataclass(frozen=True)
class Pulled:
    """The version that is live now. Of its files `copied` came, `bytes` long; the others were
    here."""

    manifest: Manifest
    copied: int
    bytes: int


def pull(
    folder: Path,
    place: Place,
    progress: Callable[[str, int, int], None],
    prepare: Callable[[Manifest], None] = lambda _: None,
) -> Pulled | None:
    """Make the version that is live in another place live in `folder`, once it is prepared; None if
    it is.

    The one before stays to go back to. Raises BuildRunning, UnwritableFolder, and what `Place`
    raises; what is live has not changed then.
    """
    manifest = place.manifest()
    before, version = _live(folder), folder / manifest.version
    if before == manifest and not visible_problem(version, manifest):
        return None
    total = sum(manifest.sizes.values())
    then = (
        "What is live has not changed. Make room and run the same command again: it goes on with "
        f"the files in {folder / PULLED}."
    )
    with lock(folder), writing(folder, total, then):
        # there it is one to go back to, or what a pull has left that was killed
        is_there = version.is_dir()
        names = list(
            damaged_files(version, manifest, manifest.files) if is_there else manifest.files
        )
        pulled = _bring(folder, place, manifest, names, lambda done: progress(STAGE, done, total))
        target = version if is_there else folder / f".{version.name}.partial"
        for name in names:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            _name_again(_pulled(folder, manifest, name), target / name)
        manifest.write(target)
        bring_to_disk(*(path for path in target.rglob("*") if path.is_dir()))
        target.rename(version)
        prepare(manifest)
        go_live(folder, manifest)
        with suppress(OSError):  # it is live; the next one removes them
            shutil.rmtree(folder / PULLED)
            if before and before.version != manifest.version:
                remove_old(folder, {manifest.version, before.version})
    return pulled


def _live(folder: Path) -> Manifest | None:
    try:
        return Manifest.read(folder)
    except (MissingStore, DamagedStore):
        return None


def _bring(
    folder: Path,
    place: Place,
    manifest: Manifest,
    names: Sequence[str],
    tell: Callable[[int], None],
) -> Pulled:
    """Have a file in PULLED for the digest of each name."""
    (folder / PULLED).mkdir(exist_ok=True)
    here = _here(folder, {manifest.files[name] for name in names})
    done = copied = received = 0
    for name in names:
        target, source = _pulled(folder, manifest, name), here.get(manifest.files[name])
        if source and not target.exists():
            _name_again(source, target)
        elif not target.exists():
            received += place.fetch(name, manifest, target, partial(_add, tell, done))
            copied += 1
        done += target.stat().st_size
        tell(done)
    return Pulled(manifest, copied, received)


def _add(tell: Callable[[int], None], done: int, more: int) -> None:
    tell(done + more)


def _here(folder: Path, digests: set[str]) -> dict[str, Path]:
    """Return the whole files here by their digests: of the versions that have any of `digests`."""
    result: dict[str, Path] = {}
    for each in versions(folder):
        if not digests.isdisjoint(each.files.values()):
            for name in CheckedVersion(folder, each).whole():
                result[each.files[name]] = folder / each.version / name
    return result


def _pulled(folder: Path, manifest: Manifest, name: str) -> Path:
    return folder / PULLED / manifest.files[name].removeprefix("xxh3:")


def _name_again(path: Path, target: Path) -> None:
    """Give a file a second name, in the place of a file that may be there, in one step."""
    part = target.with_name(f".{target.name}.partial")
    part.unlink(missing_ok=True)
    link_or_copy(path, part)  # a copy takes its time
    part.replace(target)
