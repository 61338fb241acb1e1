"""Convert datasets between containers."""

from pixelmill.conversion.encoding import Encoding
from pixelmill.conversion.job import ConvertJob
from pixelmill.conversion.run import ConvertReport, convert

__all__ = ["ConvertJob", "ConvertReport", "Encoding", "convert"]
