"""One function per library that reads a file into an RGB array, as its documentation recommends."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Read = Callable[[str], Any]


@dataclass(frozen=True)
class Reader:
    """A library.

    Attributes:
        package: Its name for pip.
        make: Import it and return the function that reads a file; ImportError or RuntimeError if it does not run here.
        formats: The extensions it reads.
    """

    package: str
    make: Callable[[], Read]
    formats: tuple[str, ...] = ("jpg", "png")

    @property
    def version(self) -> str:
        """The installed version."""
        return importlib.metadata.version(self.package.partition("<")[0])


def _pixelmill() -> Read:
    import pixelmill

    return pixelmill.imread


def _pillow() -> Read:
    import numpy as np
    from PIL import Image

    def read(path: str) -> Any:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))

    return read


def _opencv() -> Read:
    import cv2

    cv2.setNumThreads(1)
    return lambda path: cv2.cvtColor(cv2.imread(path, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)


def _opencv_rgb() -> Read:
    import cv2

    cv2.setNumThreads(1)
    return lambda path: cv2.imread(path, cv2.IMREAD_COLOR_RGB)


def _simplejpeg() -> Read:
    import simplejpeg

    return lambda path: simplejpeg.decode_jpeg(Path(path).read_bytes(), "RGB")


def _turbojpeg() -> Read:
    from turbojpeg import TJPF_RGB, TurboJPEG

    codec = TurboJPEG()
    return lambda path: codec.decode(Path(path).read_bytes(), pixel_format=TJPF_RGB)


def _imagecodecs() -> Read:
    import imagecodecs

    def read(path: str) -> Any:
        data = Path(path).read_bytes()
        return imagecodecs.png_decode(data) if path.endswith("png") else imagecodecs.jpeg8_decode(data)

    return read


def _tensorflow() -> Read:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)

    def read(path: str) -> Any:
        data = tf.io.read_file(path)
        decoded = tf.io.decode_png(data, 3) if path.endswith("png") else tf.io.decode_jpeg(data, 3)
        return decoded.numpy()

    return read


READERS = {
    "pixelmill": Reader("pixelmill", _pixelmill),
    "Pillow": Reader("pillow", _pillow),
    "OpenCV": Reader("opencv-python-headless", _opencv),
    "OpenCV, IMREAD_COLOR_RGB": Reader("opencv-python-headless", _opencv_rgb),
    "simplejpeg": Reader("simplejpeg", _simplejpeg, ("jpg",)),
    # Version 2 needs libjpeg-turbo 3, which few distributions have.
    "PyTurboJPEG": Reader("PyTurboJPEG<2", _turbojpeg, ("jpg",)),
    "imagecodecs": Reader("imagecodecs", _imagecodecs),
    "TensorFlow": Reader("tensorflow-cpu", _tensorflow),
}


def install_line() -> str:
    """Return the command that installs all of them."""
    names = dict.fromkeys(reader.package for name, reader in READERS.items() if name != "pixelmill")
    return f"pip install {' '.join(repr(name) if '<' in name else name for name in names)}"


def available(names: list[str]) -> tuple[dict[str, Read], dict[str, str]]:
    """Return those that run here, and why the others do not."""
    found: dict[str, Read] = {}
    missing: dict[str, str] = {}
    for name in names:
        try:
            found[name] = READERS[name].make()
        except (ImportError, RuntimeError, AttributeError) as error:
            missing[name] = str(error).strip().splitlines()[0]
    return found, missing
