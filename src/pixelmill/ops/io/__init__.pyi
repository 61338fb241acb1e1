# Written by scripts/write_api.py from the declarations in pixelmill/operators.
"""ops.io: operators as classes."""

from pixelmill.ops.io import file as file
