"""The contestants, a module each.

A module has `variants(kind, pictures)`, the ways it can do a kind of work (none, if it cannot), and `batches(job)`, an
endless iterator over batches.
Frameworks are imported by `batches` only, so that the variants can be listed without them.
"""

from __future__ import annotations

PEERS = ("pixelmill", "dali", "tfdata", "pillow", "opencv", "limit")
