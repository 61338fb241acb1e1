"""Convert datasets between containers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pixelmill.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from pixelmill.conversion.encoding import Encoding
    from pixelmill.conversion.job import ConvertJob
    from pixelmill.conversion.run import ConvertReport, convert

__all__ = ["ConvertJob", "ConvertReport", "Encoding", "convert"]
__getattr__ = lazy_exports(
    __name__, {"ConvertJob": "job", "ConvertReport": "run", "Encoding": "encoding", "convert": "run"}
)
