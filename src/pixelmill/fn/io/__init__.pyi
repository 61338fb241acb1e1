# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""fn.io: operators as functions."""

from pixelmill.fn.io import file as file
