"""Fast ingestion: class folders to TFRecords of raw pixels, which a training program only has to reshape."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.ingest.labels import ClassLabel, imagenet_labels, read_labels
    from pixelmill.ingest.run import ingest

__all__ = ["ClassLabel", "imagenet_labels", "ingest", "read_labels"]
__getattr__ = lazy_exports(
    __name__, {"ClassLabel": "labels", "imagenet_labels": "labels", "ingest": "run", "read_labels": "labels"}
)
