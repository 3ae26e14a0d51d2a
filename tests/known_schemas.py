"""The JSON schemas of the API's models, made once for all applications of a process.

Hundreds of tests make an application of their own, and three quarters of the 0.2 s that each takes
would go into the same 90 schemas.
"""

import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import pytest
from flask_openapi3 import utils

Schema = dict[str, Any]


@contextmanager
def known_schemas() -> Iterator[None]:
    """Within this block a schema is made when it is first asked for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(utils, "get_model_schema", _kept(utils.get_model_schema))
        yield


def _kept(make: Callable[..., Schema]) -> Callable[..., Schema]:
    @cache
    def pickled(*model: Any, **options: Any) -> bytes:
        return pickle.dumps(make(*model, **options))

    # each application changes the copy that it gets
    return lambda *model, **options: pickle.loads(pickled(*model, **options))
