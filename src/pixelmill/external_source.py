"""The external source, under the name of DALI's module."""

from pixelmill.fn import external_source
from pixelmill.ops import ExternalSource

__all__ = ["ExternalSource", "external_source"]
