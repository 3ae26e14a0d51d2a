"""Names of `tests.answer.models` under the place where tests of other rooms look for them."""

from tests.answer.models import cited, first_token

__all__ = ["cited", "first_token"]
