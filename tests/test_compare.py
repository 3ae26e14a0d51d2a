"""Names of `tests.answer.models` under the place where tests of other rooms look for them."""

from tests.answer.models import MARRIAGE as QUESTION
from tests.answer.models import one_sentence_each

__all__ = ["QUESTION", "one_sentence_each"]
