"""The contestants, a module each.

A module has `VARIANTS`, the ways it can do each kind of work, and `batches(job)`, an endless iterator over batches.
Frameworks are imported by `batches` only, so that the variants can be listed without them.
"""

from __future__ import annotations

PEERS = ("pixelmill", "dali", "tfdata", "pillow", "limit")
