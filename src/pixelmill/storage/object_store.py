"""Object stores and HTTP servers through obstore, where it is installed: several times the speed of fsspec.

Options have the names of fsspec. Options that have no equivalent in obstore, and other kinds of addresses, are left to
fsspec.
"""

from __future__ import annotations

import errno
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pixelmill.errors import DataError
from pixelmill.log import log
from pixelmill.storage.failures import explained
from pixelmill.storage.local import FileStat
from pixelmill.storage.options import StorageOptions

if TYPE_CHECKING:
    import asyncio  # importing it takes longer than the rest of this package

    from obstore import ObjectMeta
    from obstore.store import ObjectStore

_S3 = {
    "key": "access_key_id",
    "username": "access_key_id",
    "secret": "secret_access_key",
    "password": "secret_access_key",
    "token": "session_token",
    "anon": "skip_signature",
    "endpoint_url": "endpoint",
    "region_name": "region",
}
_GCS = {"token": "application_credentials"}
_AZURE = {
    "account_name": "account_name",
    "account_key": "account_key",
    "sas_token": "sas_token",
    "anon": "skip_signature",
    "tenant_id": "tenant_id",
    "client_id": "client_id",
    "client_secret": "client_secret",
}
_HINT = "check storage_options and the environment variables of the store"
_AZURE_HINT = "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY, or pass storage_options with account_name"
_GCS_HINT = "check GOOGLE_APPLICATION_CREDENTIALS, or pass storage_options with the path of a key file as token"
_HINTS = {
    **dict.fromkeys(("az", "abfs", "abfss", "adl"), _AZURE_HINT),
    **dict.fromkeys(("gs", "gcs"), _GCS_HINT),
}
_BUCKETS = ("s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl")  # kinds of addresses that begin with a bucket
_VARIABLES = (  # what a store depends on besides its options
    "AWS_ENDPOINT_URL",
    "AWS_UNSIGNED_PAYLOAD",
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "DALI_S3_NO_VERIFY_SSL",
    "DALI_GCS_ANONYMOUS",
    "DALI_GCS_ENDPOINT_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_SERVICE_ACCOUNT",
    "AZURE_STORAGE_ENDPOINT",
    "AZURE_STORAGE_ACCOUNT_NAME",
)
_NO_RETRIES = {"max_retries": 0}  # retries are ours, with a deadline
_CONNECT = "5s"
_REQUEST = "60s"
_CHUNK = 4 << 20  # bytes of a download that are written at once


# The process that uses obstore. Its threads do not exist in a fork, where every call would wait for them forever.
_users: set[int] = set()


@dataclass(frozen=True)
class Place:
    """A file in a store.

    Attributes:
        store: The store: a bucket, a container or a server.
        key: The path of the file in it.
    """

    store: ObjectStore
    key: str


def locate(path: str, options: StorageOptions) -> Place | None:
    """Return the place of an address, or None if fsspec has to open it."""
    scheme, _, rest = path.partition("://")
    if scheme in ("http", "https"):
        parts = urlsplit(path)
        if parts.query:
            return None
        store = _store(scheme, parts.netloc, _frozen(options))
        return None if store is None else Place(store, unquote(parts.path).lstrip("/"))
    bucket, _, key = rest.partition("/")
    if scheme in _BUCKETS and not bucket:
        raise DataError(f"{path} names no bucket; write {scheme}://BUCKET/{key.lstrip('/')}")
    store = _store(scheme, bucket, _frozen(options)) if bucket else None
    return None if store is None else Place(store, key)


def stat(place: Place, path: str) -> FileStat:
    """Return size, time and version of a file."""
    import obstore

    try:
        return _described(obstore.head(place.store, place.key))
    except Exception as error:
        raise explained(error, path) from None


def listing(place: Place, path: str) -> dict[str, FileStat | None]:
    """Return the names in a folder, with None for folders."""
    import obstore

    prefix = f"{place.key.rstrip('/')}/" if place.key.strip("/") else ""
    try:
        found = obstore.list_with_delimiter(place.store, prefix or None)
    except Exception as error:
        raise explained(error, path) from None
    entries: dict[str, FileStat | None] = {name.rsplit("/", 1)[-1]: None for name in found["common_prefixes"]}
    for meta in found["objects"]:
        name = meta["path"][len(prefix) :]
        if name and "/" not in name:
            entries[name] = _described(meta)
    return entries


def read(place: Place, path: str, offset: int, length: int) -> bytes:
    """Read a range of a file."""
    import obstore

    try:
        return bytes(obstore.get_range(place.store, place.key, start=offset, length=length))
    except Exception as error:
        raise explained(error, path) from None


def range_future(place: Place, offset: int, length: int) -> asyncio.Future[Any]:
    """Start to read a range of a file on the running event loop."""
    import obstore

    future: asyncio.Future[Any] = obstore.get_range_async(place.store, place.key, start=offset, length=length)  # type: ignore[assignment]
    return future


def whole_future(place: Place) -> asyncio.Future[Any]:
    """Start to open a file on the running event loop; `bytes_async` of the result reads it."""
    import obstore

    future: asyncio.Future[Any] = obstore.get_async(place.store, place.key)  # type: ignore[assignment]
    return future


def forget_stores() -> None:
    """Open all stores again when they are used next, with the credentials that the environment has then."""
    _opened.cache_clear()


def release_references() -> None:
    """Let obstore drop the Python objects that its threads have released without holding the GIL."""
    from obstore.store import MemoryStore

    MemoryStore()  # any call into its library does


def read_up_to(place: Place, path: str, offset: int, length: int) -> bytes:
    """Read a range of a file, or less where the file ends before."""
    try:
        return read(place, path, offset, length) if length > 0 else b""
    except OSError as error:
        if error.errno == errno.EINVAL:  # the file ends before the range begins
            return b""
        raise


def read_whole(place: Place, path: str, limit: int) -> bytes:
    """Read a whole file with one request; raises DataError if it is larger than `limit`."""
    import obstore

    try:
        answer = obstore.get(place.store, place.key)
        size = int(answer.meta["size"])
        if size <= limit:
            return bytes(answer.bytes())
    except Exception as error:
        raise explained(error, path) from None
    raise DataError(f"{path} has {size} bytes, more than the limit of {limit}")


def download(place: Place, path: str, target: Path) -> None:
    """Write the content of a file to a local one."""
    import obstore

    try:
        with target.open("wb") as stream:
            for chunk in obstore.get(place.store, place.key).stream(min_chunk_size=_CHUNK):
                stream.write(chunk)
    except Exception as error:
        raise explained(error, path) from None


def has_parts(path: str, found: FileStat) -> bool:
    """Whether ranges of a file can be read that are known to be of one version. Not every web server knows ranges."""
    return path.partition("://")[0] in _BUCKETS and bool(found.version) and not found.version.startswith("W/")


def download_part(place: Place, path: str, target: Path, *, offset: int, length: int, version: str) -> None:
    """Write a range of a version of a file to its place in a local one."""
    import obstore

    try:
        options: Any = {"range": (offset, offset + length), "if_match": version}
        data = obstore.get(place.store, place.key, options=options).bytes()
    except Exception as error:
        raise explained(error, path) from None
    with target.open("r+b") as stream:
        stream.seek(offset)
        stream.write(data)


def _described(meta: ObjectMeta) -> FileStat:
    when = int(meta["last_modified"].timestamp() * 1e9)
    return FileStat(int(meta["size"]), when, meta["e_tag"] or "")


def _frozen(options: StorageOptions) -> tuple[tuple[str, object], ...]:
    """Flatten options to a key of the cache of stores; nested ones, as of `client_kwargs`, count like the others."""
    flat: dict[str, object] = {}
    for name, value in options.items():
        if name == "client_kwargs" and isinstance(value, Mapping):
            flat.update({str(key): inner for key, inner in value.items()})
        else:
            flat[name] = value if isinstance(value, (str, int, float, bool)) or value is None else repr(value)
    return tuple(sorted(flat.items()))


def _store(scheme: str, bucket: str, options: tuple[tuple[str, object], ...]) -> ObjectStore | None:
    if _users and os.getpid() not in _users:
        _warn_about_fork(os.getpid())
        return None
    return _opened(scheme, bucket, options, _environment())


@lru_cache(1)
def _warn_about_fork(process: int) -> None:
    log.warning(
        "pixelmill: process %d is a fork of one that read from a store, so it reads through fsspec, which is slower; "
        "start worker processes with spawn or forkserver",
        process,
    )


def _environment() -> tuple[str, ...]:
    """Return what else a store depends on: tests, and programs, change it between two uses."""
    return tuple(os.environ.get(name, "") for name in _VARIABLES)


@lru_cache(64)
def _opened(
    scheme: str,
    bucket: str,
    options: tuple[tuple[str, object], ...],
    environment: tuple[str, ...],
) -> ObjectStore | None:
    del environment  # a part of the key
    if importlib.util.find_spec("obstore") is None:
        return None
    _users.add(os.getpid())
    given = {name: value for name, value in options if value is not None}
    try:
        return _of_scheme(scheme, bucket, given)
    except Exception as error:  # obstore's errors have no common base that is exported
        raise DataError(f"{scheme}://{bucket} cannot be opened: {_short(error)}; {_HINTS.get(scheme, _HINT)}") from None


def _short(error: Exception) -> str:
    return str(error).split("Debug source:")[0].strip().removeprefix("Generic ").rstrip(".")


def _of_scheme(scheme: str, bucket: str, given: dict[str, object]) -> ObjectStore | None:
    if scheme in ("http", "https"):
        return _http(f"{scheme}://{bucket}", given)
    if scheme in ("s3", "s3a"):
        return _s3(bucket, given)
    if scheme in ("gs", "gcs"):
        return _gcs(bucket, given)
    return _azure(bucket, given) if scheme in ("az", "abfs", "abfss", "adl") else None


def _common(*, plain_http: bool = False, unverified: bool = False) -> dict[str, Any]:
    client = {"connect_timeout": _CONNECT, "timeout": _REQUEST, "allow_http": plain_http}
    if unverified:
        client["allow_invalid_certificates"] = True
    return {"retry_config": _NO_RETRIES, "client_options": client}


def _http(server: str, given: Mapping[str, object]) -> ObjectStore | None:
    from obstore.store import HTTPStore

    return None if given else HTTPStore.from_url(server, **_common(plain_http=server.startswith("http://")))


def _s3(bucket: str, given: dict[str, object]) -> ObjectStore | None:
    from obstore.store import S3Store

    unverified = given.pop("verify", True) is False or _is_set("DALI_S3_NO_VERIFY_SSL")
    config = _renamed(given, _S3)
    if config is None or _needs_profile(config):
        return None
    endpoint = config.get("endpoint") or os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    is_plain = str(endpoint).startswith("http://")
    # TLS protects what is sent, and hashing it takes longer than sending it.
    config["unsigned_payload"] = os.environ.get("AWS_UNSIGNED_PAYLOAD", str(not is_plain)).lower() in ("1", "true")
    common = _common(plain_http=is_plain, unverified=unverified)
    return S3Store(bucket, **common, **config)


def _gcs(bucket: str, given: dict[str, object]) -> ObjectStore | None:
    from obstore.store import GCSStore

    is_anonymous = given.get("token") == "anon" or _is_set("DALI_GCS_ANONYMOUS")
    endpoint = os.environ.get("DALI_GCS_ENDPOINT_URL", "")
    config: dict[str, Any] | None = {"skip_signature": True} if is_anonymous else _renamed(given, _GCS)
    if config is None:
        return None
    if endpoint:
        config["base_url"] = endpoint
    return GCSStore(bucket, **_common(plain_http=endpoint.startswith("http://")), **config)


def _azure(container: str, given: dict[str, object]) -> ObjectStore | None:
    from obstore.store import AzureStore

    config = _renamed(given, _AZURE)
    if config is None or "@" in container:
        return None
    common = _common(plain_http=os.environ.get("AZURE_STORAGE_ENDPOINT", "").startswith("http://"))
    return AzureStore(container, **common, **config)


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "0") not in ("", "0")


def _renamed(given: Mapping[str, object], names: Mapping[str, str]) -> dict[str, Any] | None:
    """Return options by the names of obstore; None if one of them has no equivalent there."""
    if any(name not in names for name in given):
        return None
    return {names[name]: value for name, value in given.items()}


def _needs_profile(config: Mapping[str, object]) -> bool:
    """Whether the credentials of S3 have to come from the files of a profile."""
    if "access_key_id" in config or config.get("skip_signature") or os.environ.get("AWS_ACCESS_KEY_ID"):
        return False
    files = [os.environ.get("AWS_SHARED_CREDENTIALS_FILE"), os.environ.get("AWS_CONFIG_FILE")]
    homes = [str(Path("~/.aws/credentials").expanduser()), str(Path("~/.aws/config").expanduser())]
    return bool(os.environ.get("AWS_PROFILE")) or any(name and Path(name).exists() for name in (*files, *homes))
