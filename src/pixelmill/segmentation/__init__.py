"""Images and masks as npy arrays and CSV lists, the layout that segmentation tutorials train from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.segmentation.job import make_csv_file_npy, png2numpy, prepare_segmentation

__all__ = ["make_csv_file_npy", "png2numpy", "prepare_segmentation"]
__getattr__ = lazy_exports(__name__, dict.fromkeys(__all__, "job"))
