"""Inspect datasets: contents, integrity, index files and previews."""

from pixelmill.inspect.contact_sheets import contact_sheet

__all__ = ["contact_sheet"]
