"""The JSON schemas of the API's models and the scripts of the page, made once for all applications
of a process.

Hundreds of tests make an application of their own, and most of the 0.25 s that each takes
would go into the same 90 schemas, the description of the same answers and the same scripts.
"""

import pickle
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from flask_openapi3 import blueprint, openapi, utils
from flask_openapi3.models.operation import Operation

from atlas_search.server import page

Schema = dict[str, Any]
Files = Mapping[str, bytes]


@contextmanager
def known_schemas() -> Iterator[None]:
    """Within this block a schema is made when it is first asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "get_model_schema", _kept(utils.get_model_schema))
        described = _described_once(utils.get_responses)
        for module in (blueprint, openapi):
            patch.setattr(module, "get_responses", described)
        # looks through every package that is installed
        patch.setattr(openapi, "entry_points", cache(openapi.entry_points))
        patch.setattr(page, "join_files", _joined_once(page.join_files))
        yield


def _kept(make: Callable[..., Schema]) -> Callable[..., Schema]:
    @cache
    def pickled(*model: Any, **options: Any) -> bytes:
        return pickle.dumps(make(*model, **options))

    # each application changes the copy that it gets
    return lambda *model, **options: pickle.loads(pickled(*model, **options))


def _described_once(describe: Callable[..., None]) -> Callable[..., None]:
    known: dict[str, tuple[Schema, dict[str, Any]]] = {}

    def get_responses(responses: Schema, components_schemas: Schema, operation: Operation) -> None:
        key = repr(responses)
        if key not in known:
            schemas: Schema = {}
            describe(responses, schemas, operation)
            known[key] = schemas, dict(operation.responses or {})
        schemas, described = known[key]
        components_schemas.update(schemas)
        operation.responses = dict(described)

    return get_responses


def _joined_once(join: Callable[..., Files]) -> Callable[..., Files]:
    @cache
    def joined(*files: tuple[str, bytes]) -> Files:
        return join(dict(files))

    return lambda files: joined(*files.items())
