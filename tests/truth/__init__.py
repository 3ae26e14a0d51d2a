"""Every fault that answers on real sources had, on a small source made for it."""
