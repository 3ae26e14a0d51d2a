"""The disks of `tests.stores.disks`, by their earlier address."""

from tests.stores.disks import longest_file, small_disk

__all__ = ["longest_file", "small_disk"]
