"""What went wrong at a store, in one sentence with the next step, and whether trying again can help."""

from __future__ import annotations

import errno
import os
import re

_STATUS = re.compile(r"status code: (\d{3})")
_CODE = re.compile(r"<Code>(\w+)</Code>")
_EXPIRED = {"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired", "RequestExpired"}
_EXPIRED_TEXT = re.compile(r"token (has|included in the request is) expired")  # all that fsspec's S3 leaves of it
_REGION = {"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException"}
_LONGEST = 200

DENIED = (
    "access denied; check the credentials (storage_options, or the environment variables of the store) and the "
    "permissions of the bucket"
)

NO_RANGES = (
    "the server does not support range requests, which reading parts of files needs; download the files first, or use "
    "a server that supports them (python -m http.server does not)"
)

EXPIRED = "the credentials have expired; renew those in the environment or the profile, or pass new storage_options"


class NoBucketError(FileNotFoundError):
    """Raised if the bucket of an address does not exist."""


class TransientError(OSError):
    """Raised for a failure that may pass: an overloaded server, a broken connection, a body that was cut.

    Attributes:
        is_throttling: Whether the store asked for fewer requests.
        is_expiry: Whether the credentials have expired, so that the store has to be opened again with new ones.
    """

    def __init__(self, message: str, path: str, *, is_throttling: bool = False, is_expiry: bool = False) -> None:
        super().__init__(errno.EIO, message, path)
        self.is_throttling = is_throttling
        self.is_expiry = is_expiry


def explained(error: BaseException, path: str) -> OSError:
    """Return an error of a client package as an OSError: a TransientError if trying again can help."""
    if isinstance(error, OSError) and error.errno is not None and error.filename == path:
        return error  # explained already
    text = str(error)
    found = _STATUS.search(text)
    status = int(found[1]) if found else 0
    named = _CODE.search(text)
    code = named[1] if named else ""
    kind = type(error).__name__
    if code in _EXPIRED or _EXPIRED_TEXT.search(text):
        return TransientError(EXPIRED, path, is_expiry=True)
    if code == "NoSuchBucket":
        return NoBucketError(errno.ENOENT, f"there is no bucket {_bucket(path)!r}; check its name", path)
    if code in _REGION or status == 301 or "incorrectly configured region" in text:
        hint = "the bucket is in another region; set AWS_REGION, or pass storage_options with its region_name"
        return OSError(errno.EREMOTE, hint, path)
    if status in (401, 403) or isinstance(error, PermissionError) or kind in ("PermissionDeniedError", "NoCredentials"):
        return PermissionError(errno.EACCES, DENIED, path)
    if status == 404 or isinstance(error, FileNotFoundError):
        return FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
    if status == 416:
        return OSError(errno.EINVAL, "the file ends before the bytes that were asked for", path)
    if status == 412:
        return OSError(errno.EIO, "the file has changed since it was looked at; open the dataset again", path)
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        return type(error)(error.errno or errno.EIO, error.strerror or text[:_LONGEST], path)
    if isinstance(error, OSError):
        return TransientError(error.strerror or text[:_LONGEST], path)
    if 400 <= status < 500 and status not in (408, 425, 429):
        return OSError(errno.EIO, f"the store refuses the request: {status} {code}", path)
    if "Range request not supported" in text:
        return OSError(errno.ENOTSUP, NO_RANGES, path)
    if kind in ("UnknownConfigurationKeyError", "InvalidPathError", "NotSupportedError"):
        return OSError(errno.EINVAL, _short(text), path)
    what = f"status {status} {code}".rstrip() if status else _short(text)
    return TransientError(what, path, is_throttling=status in (429, 503))


def _bucket(path: str) -> str:
    return path.partition("://")[2].partition("/")[0]


def _short(text: str) -> str:
    """Return the message of an error of obstore without the debugging text that follows it."""
    first = text.split("Debug source:")[0].strip()
    return first.rpartition(" - ")[2][:_LONGEST] or first[:_LONGEST]
