"""Where the files lie that come with Atlas: in a checkout, or inside the installed package."""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent
_IN_CHECKOUT = {"targets": "targets", "frontend": "frontend", "samples": "create/samples"}


def checkout() -> Path | None:
    """The folder of the checkout that this package is run from; None if it is installed."""
    root = _PACKAGE.parent.parent
    return root if (root / "create" / "samples").is_dir() else None


def bundled_folder(name: str) -> Path:
    """The folder `targets`, `frontend` or `samples`. Nothing may be written into it."""
    root = checkout()
    return root / _IN_CHECKOUT[name] if root else _PACKAGE / "bundled" / name
