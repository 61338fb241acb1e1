"""Images and masks as npy arrays and CSV lists, the layout that segmentation tutorials train from."""

from pixelmill.segmentation.job import make_csv_file_npy, png2numpy, prepare_segmentation

__all__ = ["make_csv_file_npy", "png2numpy", "prepare_segmentation"]
