"""Look at data: what is in it, and what a pipeline made of it."""

from pixelmill.inspect.preview import contact_sheet

__all__ = ["contact_sheet"]
