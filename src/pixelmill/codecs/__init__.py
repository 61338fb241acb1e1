"""Images in one call: read, decode, encode and write them as NumPy arrays, without a pipeline.

    import pixelmill

    image = pixelmill.imread("photo.jpg")                      # (height, width, 3), uint8, upright
    small = pixelmill.imread("photo.jpg", size=(224, 224))     # a JPEG is decoded at a lower scale, then resampled
    part = pixelmill.imread("photo.jpg", window=(10, 20, 64, 64))
    pixelmill.imwrite("part.png", part)

Each call runs the native steps of a pipeline on the calling thread and without the GIL. Calls may run in any number of
threads at once, and in worker processes however they were started.
"""

from __future__ import annotations

from pixelmill.codecs.reading import ImageInfo, decode_image, image_info, imread
from pixelmill.codecs.writing import encode_jpeg, encode_png, imwrite

__all__ = ["ImageInfo", "decode_image", "encode_jpeg", "encode_png", "image_info", "imread", "imwrite"]
