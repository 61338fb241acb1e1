"""The external source, under the name that programs import it from."""

from pixelmill.fn import external_source
from pixelmill.ops import ExternalSource

__all__ = ["ExternalSource", "external_source"]
