"""Look at data: what it contains, and what a pipeline made of it."""

from pixelmill.inspect.contact_sheets import contact_sheet

__all__ = ["contact_sheet"]
