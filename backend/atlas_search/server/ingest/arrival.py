"""Arriving files: checked, and copied to where a build finds them. Nothing is overwritten yet."""

import ctypes
import os
import re
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import partial
from io import BufferedRandom, BytesIO, RawIOBase, UnsupportedOperation
from pathlib import Path, PurePosixPath
from tempfile import TemporaryFile
from typing import IO, cast
from zipfile import ZipFile

from typing_extensions import Buffer

from atlas_search.building.sources import NOT_HERE
from atlas_search.core.errors import Conflict, RequestError, SourceError, Unavailable
from atlas_search.core.files import MEGABYTE, folder_below, not_kept, open_below
from atlas_search.readers.archive import BadArchive, is_damage, refuse_bombs
from atlas_search.readers.zotero import fetch_library
from atlas_search.server.ingest.documents import LeftOut, TakenFile

LONGEST = 200  # bytes of one part: file systems take 255, and a temporary name needs some
DEEPEST = 16  # folders

_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f<>:"|?*\ud800-\udfff]')


def safe_name(given: str) -> str:
    """A path below a folder for a file that is called `given`: no way out of it, nothing hidden.

    Folders stay, as a browser sends them with a folder. Raises RequestError if nothing is left.
    """
    parts = [_part(part) for part in re.split(r"[/\\]", given)]
    kept_parts = [part for part in parts if part]
    if not kept_parts or not _part(re.split(r"[/\\]", given)[-1]):
        raise RequestError(f"{given[:80]!r} is no name for a file.")
    if len(kept_parts) > DEEPEST:
        raise RequestError(f"{given[:80]!r} lies in more than {DEEPEST} folders.")
    return PurePosixPath(*kept_parts).as_posix()


def _part(name: str) -> str:
    """One part of a path, without the dots that hide it or lead upward."""
    plain = _FORBIDDEN.sub("_", unicodedata.normalize("NFC", name)).strip().lstrip(".").rstrip(". ")
    stem, dot, suffix = plain.rpartition(".")
    ending = f"{dot}{suffix}" if stem and len(suffix) <= 16 else ""
    room = LONGEST - len(ending.encode())
    whole = plain.removesuffix(ending) if ending else plain
    return whole.encode()[:room].decode(errors="ignore") + ending


MOST_FILES = 1000  # in one request
MOST_LEFT_OUT = 100  # files that are named; of more the number is said
_BLOCK = 1024 * 1024
_HOLE = 3  # Linux's FALLOC_FL_KEEP_SIZE and FALLOC_FL_PUNCH_HOLE
_fallocate = getattr(ctypes.CDLL(None), "fallocate", None)


@dataclass(frozen=True)
class Handed:
    """A file as it was handed over: what it is called, and its bytes when they are wanted."""

    name: str
    open: Callable[[], IO[bytes]]


class FormFiles:
    """A form's files, each in a place of the form's own `body` that was read already.

    Werkzeug asks for a stream for each file, and writes them one after the other: that never passes
    what it has read. What is read of a file is given back to the disk, so an upload takes its size
    there once, not once more as files and once more as their copies.
    """

    def __init__(self, body: BufferedRandom | BytesIO):
        self._last = _FormFile(body, 0)

    def __call__(self, *_: object, **__: object) -> IO[bytes]:
        self._last = _FormFile(self._last.body, self._last.end)
        return cast(IO[bytes], self._last)


class _FormFile(RawIOBase):
    def __init__(self, body: BufferedRandom | BytesIO, start: int):
        self.body = body
        self._start = self._next = self.end = start

    def readable(self) -> bool:
        return True

    def seek(self, *_: int) -> int:
        return 0  # werkzeug, once it is written: it is read from its start, and once

    def write(self, data: bytes) -> int:  # type: ignore[override]
        place = self.body.tell()
        self.body.seek(self.end)
        self.end += self.body.write(data)
        self.body.seek(place)
        return len(data)

    def readinto(self, buffer: Buffer) -> int:
        self.body.seek(self._next)
        count = self.body.readinto(memoryview(buffer)[: self.end - self._next])
        self._next += count
        with suppress(UnsupportedOperation):  # in memory
            _free(self.body.fileno(), self._start, self._next - self._start)
        return count


def _free(file: int, start: int, length: int) -> None:
    """Make a hole where a file is not read again; where the system cannot, it stays as it is."""
    if _fallocate:
        _fallocate(file, _HOLE, ctypes.c_int64(start), ctypes.c_int64(length))


@dataclass(frozen=True)
class UploadLimits:
    """Bounds on the bytes of one file and of all together, and the suffixes that are taken."""

    file: int
    request: int
    suffixes: frozenset[str]


@dataclass(frozen=True)
class Places:
    """The folders of a corpus's files, from `root`: at first, and once the files are live."""

    root: Path
    arriving: Path
    kept: Path


@dataclass(frozen=True)
class Arrival:
    """Files in the folder of a job, not yet among the kept ones.

    Of those that are left out the first are named, and the number of the others given.
    """

    files: list[TakenFile]
    left_out: list[LeftOut]
    more_left_out: int = 0


def take_in(
    handed: Sequence[Handed],
    places: Places,
    limits: UploadLimits,
    *,
    replace: bool,
    waiting: Collection[str],
    missing: Sequence[LeftOut] = (),
) -> Arrival:
    """Copy what can be read to where it arrives, that inside of ZIP files too; `waiting` are the
    names that jobs before this one bring there, `missing` what could not be handed over.

    Raises RequestError for what is too large or has no usable name, Conflict for another file of
    the same name unless it may `replace` it, and Unavailable if the disk does not take them.
    """
    files, left_out, room = dict[str, TakenFile](), [*missing], limits.request
    with ExitStack() as opened:
        for each in _unpack(handed, places.root, limits, left_out, opened):
            name = safe_name(each.name)
            if not name.lower().endswith(tuple(limits.suffixes)):
                reason = PICTURE if name.lower().endswith(_PICTURES) else OTHER_KIND
                left_out.append(LeftOut(name=each.name, reason=reason))
                continue
            if name in files:
                raise RequestError(f"{files[name].sent_as!r} and {each.name!r} are both {name!r}.")
            if len(files) == MOST_FILES:
                raise RequestError(f"There are more than {MOST_FILES} files. Send a part of them.")
            place = places.arriving / name
            try:
                size = _copy(each, places.root, place, min(room, limits.file), limits)
            except BadArchive as error:
                left_out.append(LeftOut(name=each.name, reason=str(error)))
                continue
            room -= size
            replaces = _replaces(name, places, waiting)
            files[name] = TakenFile(sent_as=each.name, name=name, bytes=size, replaces=replaces)
    if taken := [name for name, file in files.items() if file.replaces and not replace]:
        raise Conflict(
            f"Other files of these names are kept: {', '.join(taken[:5])}. Send `replace` to put "
            "the new ones in their places, or rename them."
        )
    check_clash(files, waiting)
    if not files:
        reasons = "; ".join(f"{each.name}: {each.reason}" for each in left_out[:3])
        raise RequestError(f"There is no file to take in ({reasons or 'none was sent'}).")
    named = left_out[:MOST_LEFT_OUT]
    return Arrival(list(files.values()), named, len(left_out) - len(named))


_PICTURES = (".jpg", ".jpeg", ".png", ".tif", ".tiff", ".gif", ".webp", ".heic", ".jp2", ".bmp")
PICTURE = (
    "it is a picture, and text in pictures is not read; run OCR (OCRmyPDF, for instance) and add "
    "the PDF or the text that it gives"
)
OTHER_KIND = "files of this kind are not read; save it as PDF, Word (.docx) or text, and add that"


def _unpack(
    handed: Sequence[Handed],
    root: Path,
    limits: UploadLimits,
    left_out: list[LeftOut],
    opened: ExitStack,
) -> Iterator[Handed]:
    """Yield the files, and in the place of a ZIP file those in it that are not hidden."""
    for each in handed:
        if not each.name.lower().endswith(".zip"):
            yield each
            continue
        try:
            archive = opened.enter_context(_archive(each, root, limits, opened))
        except BadArchive as error:
            left_out.append(LeftOut(name=each.name, reason=str(error)))
            continue
        for entry in archive.infolist():
            if not entry.is_dir() and not re.search(r"(^|/)(\.(?!\.?/)|__MACOSX/)", entry.filename):
                yield Handed(entry.filename, partial(archive.open, entry))


def _archive(handed: Handed, root: Path, limits: UploadLimits, opened: ExitStack) -> ZipFile:
    """Open a ZIP file, after copying it to where it can be read from its end. Raises BadArchive."""
    try:
        file = opened.enter_context(TemporaryFile(dir=root))  # noqa: SIM115
        with handed.open() as source:
            while block := source.read(_BLOCK):
                if file.tell() + len(block) > limits.request:
                    raise RequestError(_too_large(handed.name, 0, limits))
                file.write(block)
        size = file.tell()
    except OSError as error:
        raise not_kept(repr(handed.name), "INGEST_ROOT", error) from error
    try:
        archive = ZipFile(file)
    except Exception as error:
        if not is_damage(error):
            raise
        raise BadArchive(
            "it is not a ZIP file, or it is damaged; get the whole file again"
        ) from error
    refuse_bombs(archive, size)
    return archive


def check_clash(names: Collection[str], waiting: Collection[str]) -> None:
    """Raise Conflict for a file that a request before this one brings a folder for, or the other
    way round."""
    folders, files = {folder for name in waiting for folder in _folders(name)}, set(waiting)
    if clashing := [name for name in names if name in folders or files & _folders(name)]:
        raise Conflict(
            f"{min(clashing)!r} cannot be kept: another request brings a folder or file of that "
            "name. Wait for its end."
        )


def _folders(name: str) -> set[str]:
    return {parent.as_posix() for parent in PurePosixPath(name).parents}


def _copy(handed: Handed, root: Path, place: Path, room: int, limits: UploadLimits) -> int:
    """Copy a file to its place from `root`; its bytes."""
    size = 0
    try:
        with handed.open() as source, _new_file(root, place) as target:
            while block := source.read(_BLOCK):
                size += len(block)
                if size > room:
                    raise RequestError(_too_large(handed.name, size, limits))
                target.write(block)
            target.flush()
            os.fsync(target.fileno())
    except (FileExistsError, NotADirectoryError) as error:
        raise RequestError(f"{handed.name!r} is the name of a folder and of a file.") from error
    except OSError as error:
        raise not_kept(repr(handed.name), "INGEST_ROOT", error) from error
    except Exception as error:
        if not is_damage(error):
            raise
        with folder_below(root, place.parent) as folder:
            os.unlink(place.name, dir_fd=folder)
        raise BadArchive(f"it is damaged in its ZIP file ({error}); get that again") from error
    return size


def _new_file(root: Path, place: Path) -> IO[bytes]:
    with folder_below(root, place.parent, make=True) as folder:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        return os.fdopen(os.open(place.name, flags, 0o666, dir_fd=folder), "wb")


def _too_large(name: str, size: int, limits: UploadLimits) -> str:
    if size > limits.file:
        return (
            f"{name!r} is larger than {limits.file // MEGABYTE} MB. Split it, or raise "
            "INGEST_MAX_FILE_MB."
        )
    return (
        f"The files are larger than {limits.request // MEGABYTE} MB together. Send fewer, or "
        "raise INGEST_MAX_REQUEST_MB."
    )


def _replaces(name: str, places: Places, waiting: Collection[str]) -> bool:
    """Check for another text that is, or will be, at the place.

    Raises Conflict for a folder or a link there, and for a file or a link on the way.
    """
    with open_below(places.root, places.arriving / name) as new:
        try:
            with open_below(places.root, places.kept / name) as old:
                return name in waiting or not _is_same(new, old)
        except FileNotFoundError:
            return name in waiting
        except OSError as error:
            raise Conflict(
                f"{name!r} cannot be kept: a folder, file or link has that name already."
            ) from error


def _is_same(one: IO[bytes], other: IO[bytes]) -> bool:
    while block := one.read(_BLOCK):
        if other.read(len(block)) != block:
            return False
    return not other.read(1)


LIBRARY = "library"
"""In the place of a collection of Zotero: all of them, and what is in none."""

SEEN = 100_000  # files and folders that are looked at: listing them holds a thread of the server


def path_below(root: Path, path: str) -> Path:
    """Resolve `path` from `root` to a path without links.

    Raises RequestError for what is not there, lies outside of `root`, or is hidden.
    """
    home = root.resolve()
    try:
        target = (home / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise RequestError(_nothing(path)) from None
    _check_inside(target, home, path)
    return target


def files_below(root: Path, found: Path, suffixes: frozenset[str]) -> list[Handed]:
    """The files at or below a path that `path_below` gave, with their names from there.

    Those that cannot be read are among them. Raises RequestError for a link that leads out of
    `root`, for more than MOST_FILES that end in one of `suffixes`, and for a folder of very many
    others.
    """
    home = root.resolve()
    if found.is_file():
        return [Handed(found.name, partial(_open, home, found))]
    if not found.is_dir():
        return []
    handed, readable = [], 0
    for seen, (name, file) in enumerate(_walk(found, home)):
        if file is None:
            continue
        readable += name.lower().endswith(tuple(suffixes))
        if readable > MOST_FILES or seen > SEEN:
            most = f"{MOST_FILES} files" if seen <= SEEN else f"{SEEN} files and folders"
            raise RequestError(f"More than {most} lie there. Name a part of them.")
        handed.append(Handed(name, partial(_open, home, file)))
    return handed


def files_in_zotero(
    address: str, collection: str, limits: UploadLimits
) -> tuple[list[Handed], list[LeftOut]]:
    """The list of a collection of Zotero, `library` for all of it, and its files; and those that
    cannot be had.

    Raises Unavailable, which says what to do.
    """
    inside = "" if collection == LIBRARY else collection
    try:
        listed, files = fetch_library(
            address,
            limits.suffixes,
            collection=inside,
            named=safe_name,
            longest=limits.request,
        )
    except SourceError as error:
        raise Unavailable(str(error)) from error
    handed, missing = [Handed(f"{collection}.json", partial(BytesIO, listed.encode()))], []
    for key, name, path in files:
        if path and not name.lower().endswith(".zip"):  # which would be unpacked
            real = path.resolve()
            handed.append(Handed(f"{key}/{name}", partial(_open, real.parent, real)))
        else:
            missing.append(LeftOut(name=name, reason=OTHER_KIND if path else NOT_HERE))
    return handed, missing


def _walk(folder: Path, home: Path) -> Iterator[tuple[str, Path | None]]:
    """List what is below a folder of `home`, by its name from there; None for what is no file."""
    try:
        with folder_below(home, folder.relative_to(home)) as top:
            for base, folders, names, _ in os.fwalk(".", dir_fd=top):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                for name in (*folders, *sorted(names)):
                    if not name.startswith("."):
                        yield _seen(folder, Path(base, name), home)
    except OSError as error:
        raise RequestError(f"{folder.name!r} cannot be listed: {error.strerror}.") from error


def _seen(folder: Path, inner: Path, home: Path) -> tuple[str, Path | None]:
    name, path = os.fsencode(inner).decode(errors="replace"), folder / inner
    if path.is_symlink():
        path = path.resolve()
        _check_inside(path, home, name)
    return name, path if path.is_file() else None


def _check_inside(target: Path, home: Path, name: str) -> None:
    """Raise RequestError unless `target`, a path without links, lies in `home`, not hidden."""
    if target == home:
        raise RequestError("INGEST_ROOT holds what is kept already. Name a folder or file in it.")
    if not target.is_relative_to(home):
        raise RequestError(_nothing(name))
    if any(part.startswith(".") for part in target.relative_to(home).parts):
        raise RequestError(f"{name[:80]!r} is hidden: a part of its path begins with a dot.")


def _nothing(path: str) -> str:
    # one sentence for both: else it would tell what lies elsewhere on this machine
    return f"There is no {path[:80]!r} in INGEST_ROOT, and nothing outside of it is read."


def _open(home: Path, path: Path) -> IO[bytes]:
    """Open what was a regular file in `home`. Raises RequestError if it is not any more."""
    try:
        return open_below(home, path.relative_to(home))
    except OSError as error:
        raise RequestError(f"{path.name!r} cannot be read: {error.strerror}.") from error
