"""Convert datasets between containers."""

from pixelmill.conversion.convert import ConvertReport, convert
from pixelmill.conversion.encoding import Encoding
from pixelmill.conversion.job import ConvertJob

__all__ = ["ConvertJob", "ConvertReport", "Encoding", "convert"]
