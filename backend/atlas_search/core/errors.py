"""Every error Atlas raises on purpose.

    AtlasError                  what went wrong, where, and what to do
    ├── RequestError            the caller can mend it
    │   ├── InvalidQuestion     empty or too long
    │   ├── InvalidQuery        words are looked for in no way that can be read
    │   ├── UnknownCorpus       lists the known corpora
    │   ├── UnknownFilterField  lists the known fields
    │   ├── UnknownTarget       lists the known targets
    │   ├── UnknownCollection   lists the collections that are served
    │   ├── NotFound            no such passage, document or answer
    │   ├── Conflict            a name or an id is taken, or a build is running
    │   ├── WrongMediaType      a body that is not said to be JSON
    │   ├── UnknownHost         the server is called by a name that it does not have
    │   ├── UnknownCaller       no key was sent, or none that is known
    │   └── NotAllowed          only for the administrator, or for other keys
    │       └── ForeignOrigin   a browser's page that is not the server's own
    ├── ConfigurationError      the operator can mend it
    │   ├── InvalidTarget       with file and line
    │   ├── MissingStore        names the command that builds it
    │   │   └── OutdatedStore   written by another version of Atlas
    │   ├── DamagedStore        a part is missing or of another version
    │   ├── UnwritableFolder    the disk is full, or only for reading
    │   ├── EmbedderMismatch    the store was built with another model
    │   ├── MissingModel        a model cannot be loaded
    │   ├── MissingLibrary      names the command that installs it
    │   ├── EmbeddingRefused    the provider will not embed these texts
    │   └── ModelRefused        a language model has no key, or its provider refuses the request
    ├── Unavailable             a provider cannot be reached, or gives no usable answer
    │   ├── EmbeddingUnavailable
    │   ├── EngineUnavailable   likewise the engine that finds candidates
    │   ├── RerankerUnavailable
    │   ├── ReaderUnavailable   likewise a model that finds answers in passages
    │   ├── ModelUnavailable    likewise a language model
    │   │   └── ModelBusy       others waited longer for it
    │   ├── FullDisk            what was sent has no room on the server's disk
    │   ├── TooManyQuestions    as many as can be answered at once are being answered
    │   └── ServerBusy          no thread or connection is free, or the server is stopping
    ├── SourceError             a source folder or file cannot be built
    │   └── BuildRunning        another build of the collection is running
    ├── ClosedStore             a store is asked after it was closed
    └── Cancelled               the client went away; nothing is wrong

HTTP statuses are assigned in one table, `atlas_search.server.problems`.
"""

import reprlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


class AtlasError(Exception):
    """Root of the tree. `str(error)` says what, where and what to do."""

    traced = False
    """True if a span shows the error already, so that the request that it ends needs none."""


class RequestError(AtlasError):
    """The request cannot be served as it stands; the caller can mend it."""


class InvalidQuestion(RequestError):
    """The question is empty or longer than the limit."""


class InvalidQuery(RequestError):
    """A query for words that breaks the rules of its language; says at which character.

    `character` is its number, from 1; 0 where the fault is at none.
    """

    def __init__(self, message: str, character: int = 0):
        super().__init__(message)
        self.character = character


class UnknownCorpus(RequestError):
    """A corpus that the collection does not hold."""


class UnknownFilterField(RequestError):
    """A filter on a metadata field that no document has."""


class UnknownTarget(RequestError):
    """A target name with no file in the targets folder."""


class UnknownCollection(RequestError):
    """A collection that is not served."""


class NotFound(RequestError):
    """No passage, document, answer or job with that id."""


class Conflict(RequestError):
    """There is an answer with this id or a file of this name already, or a build is running."""


class NotAllowed(RequestError):
    """The caller has not the right: a change that needs an administrator, or nothing to see."""


class UnknownCaller(RequestError):
    """Nobody asks this server without a key, and none was sent, or an unknown or expired one."""


class ForeignOrigin(NotAllowed):
    """A page of another origin asks, and the operator has not allowed it."""


class UnknownHost(RequestError):
    """The Host of a request is none of the server's names."""


class WrongMediaType(RequestError):
    """The body of a request is said to be something else than JSON."""


class ConfigurationError(AtlasError):
    """The installation is set up wrong; the operator can mend it."""


class InvalidTarget(ConfigurationError):
    """A target file with an unknown, repeated or malformed key."""


class MissingStore(ConfigurationError):
    """No manifest where the collection should be."""


class OutdatedStore(MissingStore):
    """A collection in the format of another version of Atlas: for this one, as good as missing."""


class DamagedStore(ConfigurationError):
    """A part of the store is missing, unreadable or disagrees with the manifest."""


class UnwritableFolder(ConfigurationError):
    """A full disk, or a folder that may only be read."""


class EmbedderMismatch(ConfigurationError):
    """The store's vectors come from another model than the configured one."""


class MissingModel(ConfigurationError):
    """A model is neither installed nor a folder on disk, or is not of the kind that is needed."""


class MissingLibrary(ConfigurationError):
    """A library is not installed that only some parts of Atlas need."""


class EmbeddingRefused(ConfigurationError):
    """The embedding provider will not take a request: an unknown model, or too long a text."""


class ModelRefused(ConfigurationError):
    """A language model has no key, or its provider will not take the request as it is."""


class Unavailable(AtlasError):
    """A provider is busy, out of reach or gives no usable answer; later it may.

    `retry_after` are the seconds after which trying again makes sense; 0 if unknown.
    """

    def __init__(self, message: str, retry_after: float = 0.0):
        super().__init__(message)
        self.retry_after = retry_after


class EmbeddingUnavailable(Unavailable):
    """The embedding provider cannot be used now."""


class EngineUnavailable(Unavailable):
    """The engine that finds candidates cannot be reached now."""


class RerankerUnavailable(Unavailable):
    """The reranking model cannot be used now."""


class ReaderUnavailable(Unavailable):
    """The reader model cannot be used now."""


class ModelUnavailable(Unavailable):
    """The language model cannot be used now."""


class ModelBusy(ModelUnavailable):
    """Every place at the language model is taken, and waiting for one took too long."""


class FullDisk(Unavailable):
    """The disk has no room for what a caller sent."""


class TooManyQuestions(Unavailable):
    """As many questions as can be answered at once are being answered, or wait for it."""


class ServerBusy(Unavailable):
    """The server has no thread or connection free for a request, or is stopping."""


class SourceError(AtlasError):
    """A source folder or file that cannot be built."""


class BuildRunning(SourceError):
    """Another process builds or changes the collection."""


class ClosedStore(AtlasError):
    """A store is asked for something after it was closed."""


class Cancelled(AtlasError):
    """The client went away before the answer was complete."""


_MOST = 10
_LONGEST = 80  # characters of each

MOST_FAULTS = 20  # of a request that are told; each of a million values may have some
LONGEST_NAME = 80  # characters of a field's


def faults_of(error: "ValidationError") -> str:
    """The faults of a request, the first of them one by one, each with its place."""
    every_fault = error.errors(include_url=False)
    faults = list(dict.fromkeys(map(_fault, every_fault[:MOST_FAULTS])))
    if len(every_fault) > MOST_FAULTS:
        faults.append(f"and {len(every_fault) - MOST_FAULTS:,} more faults")
    return "; ".join(faults) + "."


_WORDS = {
    "greater_than_equal": "give {ge} or more",
    "less_than_equal": "give {le} or less",
    "less_than": "give less than {lt}",
    "literal_error": "give {expected}",
}


def _fault(fault: "ErrorDetails") -> str:
    """The fault and its place: `limit=1001: give 1000 or less`."""
    names, kind = [str(part)[:LONGEST_NAME] for part in fault["loc"]], fault["type"]
    if names[0:1] == ["filters"] and len(names) > 2:  # else a fault for each form of a filter
        return f'{".".join(names[:2])}: give a value, a list of values, or "from", "to" or both'
    place = ".".join(names)
    if kind in _WORDS:
        return f"{place}={shown([fault['input']])}: {_WORDS[kind].format(**fault['ctx'])}"
    if kind == "extra_forbidden":
        return f"{place}: there is no such field"
    message = fault["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def shown(given: Sequence[object]) -> str:
    """The first of `given` with commas between, strings in quotation marks and not longer."""
    more = f" and {len(given) - _MOST:,} more" if len(given) > _MOST else ""
    return ", ".join(map(_show, given[:_MOST])) + more


_BRIEF = reprlib.Repr()  # of a list in a list, of a number of thousands of digits
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = _LONGEST


def _show(value: object) -> str:
    if isinstance(value, str):
        return f"{value[:_LONGEST]!r}{'…' if len(value) > _LONGEST else ''}"
    return _BRIEF.repr(value)
