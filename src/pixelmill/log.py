"""The log of the package. Messages quote names from data, whose control characters a terminal would obey."""

from __future__ import annotations

import logging

from pixelmill.errors import printable


def _escape(record: logging.LogRecord) -> bool:
    record.msg, record.args = printable(record.getMessage(), keep="\n"), ()
    return True


log = logging.getLogger("pixelmill")
log.addFilter(_escape)
