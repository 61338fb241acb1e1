"""Imageinary's commands and functions, without TensorFlow and MXNet; `imagine.imagine` has the functions too."""

from imagine.imagine import create_images, create_recordio, create_tfrecords, main

__all__ = ["create_images", "create_recordio", "create_tfrecords", "main"]
