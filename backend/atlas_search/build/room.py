"""The room on the disk that a version needs."""

BYTES_BESIDE_VECTORS = 3900  # text, words, ids and links of a passage of 800 characters


def room_needed(passages: int, dimension: int) -> int:
    """The bytes that a version of so many passages takes, about: vectors twice, and the rest."""
    return passages * (2 * 4 * dimension + BYTES_BESIDE_VECTORS)
