"""What repeats one thing is read in time that grows with its length, not with its square."""

import pytest

from atlas_search.language.quantities import quantities
from tests.growth import grows_evenly


@pytest.mark.parametrize("amount", ["1 day ", "1954 ", "5 days 1954 ", "$5 ", "20% ", "aged 5 "])
def test_a_row_of_amounts(amount: str) -> None:
    assert grows_evenly(quantities, lambda size: amount * size, 300)
