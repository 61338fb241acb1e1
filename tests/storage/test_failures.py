"""What users read when a store refuses, and what is tried again."""

from __future__ import annotations

import pytest

from pixelmill.storage.failures import TransientError, explained

START = "Generic S3 error: Error performing GET http://x in 3ms - "
ANSWER = START + "Server returned non-2xx status code: {}: <Error><Code>{}</Code></Error>\n\nDebug source: y"


class GenericError(Exception):
    """Like the error of obstore, which has no status of its own."""


@pytest.mark.parametrize(
    ("status", "code", "kind", "text"),
    [
        ("403 Forbidden", "AccessDenied", PermissionError, "access denied; check the credentials"),
        ("404 Not Found", "NoSuchKey", FileNotFoundError, "No such file or directory"),
        ("404 Not Found", "NoSuchBucket", FileNotFoundError, "there is no bucket 'b'; check its name"),
        ("301 Moved", "PermanentRedirect", OSError, "another region; set AWS_REGION"),
        ("400 Bad Request", "AuthorizationHeaderMalformed", OSError, "another region; set AWS_REGION"),
        ("400 Bad Request", "InvalidRequest", OSError, "refuses the request: 400 InvalidRequest"),
        ("416 Range", "InvalidRange", OSError, "ends before"),
        ("412 Precondition Failed", "PreconditionFailed", OSError, "has changed since it was looked at"),
    ],
)
def test_final_errors_say_what_to_do(status: str, code: str, kind: type[OSError], text: str) -> None:
    found = explained(GenericError(ANSWER.format(status, code)), "s3://b/x")
    assert isinstance(found, kind) and not isinstance(found, TransientError)
    assert found.filename == "s3://b/x" and text in str(found.strerror)
    assert explained(found, "s3://b/x") is found


@pytest.mark.parametrize(
    ("status", "code", "is_throttling"),
    [
        ("503 Slow Down", "SlowDown", True),
        ("429 Too Many", "TooManyRequests", True),
        ("500 Internal", "InternalError", False),
        ("400 Bad Request", "ExpiredToken", False),
        ("408 Timeout", "RequestTimeout", False),
    ],
)
def test_transient_errors_are_tried_again(status: str, code: str, is_throttling: bool) -> None:
    found = explained(GenericError(ANSWER.format(status, code)), "s3://b/x")
    assert isinstance(found, TransientError) and found.is_throttling is is_throttling


def test_broken_connections_are_tried_again_and_named_shortly() -> None:
    text = START + "HTTP error: error sending request\n\nDebug source: z"
    found = explained(GenericError(text), "s3://b/x")
    assert isinstance(found, TransientError) and found.strerror == "HTTP error: error sending request"
    assert isinstance(explained(ConnectionResetError(104, "reset"), "s3://b/x"), TransientError)
    assert isinstance(explained(PermissionError(13, "Forbidden"), "s3://b/x"), PermissionError)
