"""An S3-compatible server on 127.0.0.1, for tests and measurements.

It keeps objects in memory, answers GET (with ranges and validators), HEAD, PUT (with `If-None-Match: *`), DELETE,
uploads in parts and ListObjectsV2, and can be slow or faulty on purpose: latency, a limit of bandwidth for each
connection, errors, resets, truncated bodies, answers that never come, objects that vanish, keys that expire. Signatures
are not checked. Run as a program, it serves the files of a folder.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import threading
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.utils import formatdate
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

MAX_HEAD = 1 << 16
MAX_BODY = 1 << 28
MAX_CONNECTIONS = 1024
PAGE = 1000  # keys in one answer of a listing, the limit of S3
TICK = 0.01  # seconds between the pieces of a body under a limit of bandwidth
COUNTS = "counts-of-this-server"  # the path of what was counted; asking for it starts the counts again
WHEN = 1_700_000_000  # the modification time of all objects


@dataclass
class Faults:
    """How often requests for objects go wrong, as fractions, and which objects are special."""

    errors: float = 0.0
    resets: float = 0.0
    truncated: float = 0.0
    hangs: float = 0.0
    gone: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)
    expired: set[str] = field(default_factory=set)  # access keys
    answer: tuple[int, str] | None = None  # status and code of every answer
    seed: int = 0

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def draw(self) -> str:
        number = self._random.random()
        for kind in ("errors", "resets", "truncated", "hangs"):
            number -= getattr(self, kind)
            if number < 0:
                return kind
        return ""


class LoopbackS3:
    """The server.

    Attributes:
        objects: The content of each object, by `bucket/key`.
        tags: The ETag of each object.
        counts: How many requests of each kind were answered: GET and HEAD of objects, LIST, PUT.
        log: The objects of GET requests with their ranges, in the order of arrival.
        sent: Bytes of objects that were sent.
        chain: The length of the longest chain of requests of which each came after an answer to the one before: an
            upper limit of the round trips that a client had to wait for one after another.
        uploads: The parts of each upload that is not complete, by its number, with the key of the object first.

    Args:
        latency: Seconds before each answer begins.
        bandwidth: Bytes per second of each connection; 0 for no limit.
        faults: What goes wrong.
    """

    def __init__(self, *, latency: float = 0.0, bandwidth: float = 0.0, faults: Faults | None = None) -> None:
        self.objects: dict[str, bytes] = {}
        self.tags: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.log: list[tuple[str, int, int]] = []
        self.sent = 0
        self.chain = 0
        self.answered = 0  # the longest chain whose last request was answered
        self.watch: Callable[[str, str], None] | None = None  # called with method and key of each request
        self.uploads: dict[str, tuple[str, dict[int, bytes]]] = {}
        self.latency, self.bandwidth = latency, bandwidth
        self.faults = faults or Faults()
        self.port = 0
        self.connections: set[asyncio.Transport] = set()
        self._loop = asyncio.new_event_loop()

    def put(self, key: str, content: bytes) -> None:
        self.objects[key] = content
        self.tags[key] = f'"{len(content):x}-{zlib.crc32(content):08x}"'  # a quick one: measurements count its time

    def put_folder(self, bucket: str, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.put(f"{bucket}/{path.relative_to(folder).as_posix()}", path.read_bytes())

    def reset(self) -> None:
        """Forget what was counted."""
        self.counts.clear()
        self.log.clear()
        self.sent = self.chain = self.answered = 0

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def options(self) -> dict[str, object]:
        """The options of fsspec for this server."""
        return {
            "key": "test",
            "secret": "test",
            "endpoint_url": self.endpoint,
            "client_kwargs": {"region_name": "us-east-1"},
        }

    @contextmanager
    def running(self) -> Iterator[LoopbackS3]:
        """Serve from a thread."""
        ready = threading.Event()
        if self._loop.is_closed():  # it ran before
            self._loop = asyncio.new_event_loop()
        thread = threading.Thread(target=lambda: self.serve(ready.set), daemon=True)
        thread.start()
        if not ready.wait(10):
            raise RuntimeError("the server does not start")
        try:
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            thread.join()

    def serve(self, ready: Callable[[], None], port: int = 0) -> None:
        """Serve until the loop is stopped."""
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            self._loop.create_server(lambda: _Connection(self, self._loop), "127.0.0.1", port, backlog=MAX_CONNECTIONS)
        )
        self.port = server.sockets[0].getsockname()[1]
        ready()
        try:
            self._loop.run_forever()
        finally:
            self._loop.run_until_complete(self._end(server))
            self._loop.close()

    async def _end(self, server: asyncio.Server) -> None:
        server.close()
        accepting = asyncio.all_tasks() - {asyncio.current_task()}
        if accepting:  # clients that have no connection yet
            await asyncio.wait(accepting, timeout=1)
        for transport in list(self.connections):
            transport.abort()
        await server.wait_closed()
        await asyncio.sleep(0)


@dataclass(frozen=True)
class _Request:
    method: str
    key: str
    query: dict[str, list[str]]
    headers: dict[str, str]


class _Connection(asyncio.Protocol):
    def __init__(self, server: LoopbackS3, loop: asyncio.AbstractEventLoop) -> None:
        self._server, self._loop = server, loop
        self._data = bytearray()
        self._is_busy = False
        self._chain = 0  # of the request that is being answered
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._server.connections.add(transport)
        if len(self._server.connections) > MAX_CONNECTIONS:
            transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self._server.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        self._data += data
        self._next()

    def _next(self) -> None:
        """Answer the next request, if all of it has arrived and the one before is done."""
        end = self._data.find(b"\r\n\r\n")
        if self._is_busy or end < 0:
            if end < 0 and len(self._data) > MAX_HEAD:
                self._transport.abort()
            return
        request = _parsed(bytes(self._data[:end]))
        length = int(request.headers.get("content-length", 0))
        if length > MAX_BODY:
            self._transport.abort()
        if len(self._data) < end + 4 + length or length > MAX_BODY:
            return
        body = bytes(self._data[end + 4 : end + 4 + length])
        del self._data[: end + 4 + length]
        self._is_busy = True
        self._chain = self._server.answered + 1
        self._server.chain = max(self._server.chain, self._chain)
        if self._server.latency:
            self._loop.call_later(self._server.latency, self._answer, request, body)
        else:
            self._answer(request, body)

    def _answer(self, request: _Request, body: bytes) -> None:
        if self._transport.is_closing():
            return None
        server = self._server
        server.answered = max(server.answered, self._chain)
        if server.watch is not None:
            server.watch(request.method, request.key)
        if request.key == COUNTS:
            told = json.dumps({**server.counts, "sent": server.sent}).encode()
            server.reset()
            return self._send(200, told, {"Content-Type": "application/json"})
        if server.faults.answer is not None:
            return self._fail(*server.faults.answer)
        if any(f"Credential={key}/" in request.headers.get("authorization", "") for key in server.faults.expired):
            server.counts["expired"] += 1
            return self._fail(400, "ExpiredToken")
        if request.method in ("PUT", "POST", "DELETE") or "uploads" in request.query:
            return self._send(*_changed(server, request, body))
        if request.query.get("comp") == ["list"]:
            server.counts["LIST"] += 1
            return self._send(200, _azure_listing(server, request), {"Content-Type": "application/xml"})
        if "list-type" in request.query:
            server.counts["LIST"] += 1
            bucket = request.key.rstrip("/")
            if bucket in server.faults.denied:
                return self._fail(403, "AccessDenied")
            if not any(key.startswith(f"{bucket}/") for key in server.objects):
                return self._fail(404, "NoSuchBucket")
            return self._send(200, _listing(server, bucket, request.query), {"Content-Type": "application/xml"})
        return self._object(request)

    def _object(self, request: _Request) -> None:
        server = self._server
        server.counts[request.method] += 1
        content = server.objects.get(request.key)
        if request.key in server.faults.denied or request.key.partition("/")[0] in server.faults.denied:
            return self._fail(403, "AccessDenied")
        if content is None or request.key in server.faults.gone:
            return self._fail(404, "NoSuchKey")
        tag = server.tags[request.key]
        headers = {"ETag": tag, "Accept-Ranges": "bytes", "Last-Modified": formatdate(WHEN, usegmt=True)}
        if request.method == "HEAD":
            return self._send(200, b"", {**headers, "Content-Length": str(len(content))})
        begin, end = _range(request.headers.get("range", ""), len(content))
        server.log.append((request.key, begin, end))
        if request.headers.get("if-none-match") == tag:
            return self._send(304, b"", headers)
        if request.headers.get("if-match", tag) != tag:
            return self._fail(412, "PreconditionFailed")
        fault = server.faults.draw()
        if fault == "errors":
            return self._fail(503, "SlowDown")
        if fault == "resets":
            return self._transport.abort()
        if fault == "hangs":
            return None
        part = content[begin:end]
        server.sent += len(part)
        is_part = "range" in request.headers
        if is_part:
            headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(content)}"
        return self._send(206 if is_part else 200, part, headers, is_cut=fault == "truncated")

    def _fail(self, status: int, code: str) -> None:
        message = "The provided token has expired." if code == "ExpiredToken" else code
        text = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>{message}</Message></Error>"
        self._send(status, text.encode(), {"Content-Type": "application/xml"})

    def _send(self, status: int, body: bytes, headers: dict[str, str], *, is_cut: bool = False) -> None:
        lines = [f"HTTP/1.1 {status} X", *(f"{name}: {value}" for name, value in headers.items())]
        if "Content-Length" not in headers:
            lines.append(f"Content-Length: {len(body)}")
        self._transport.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        if is_cut:
            self._transport.write(body[: len(body) // 2])
            return self._transport.close()
        return self._write(memoryview(body), self._loop.time(), 0)

    def _write(self, body: memoryview, began: float, sent: int) -> None:
        """Write what the bandwidth allows by now, and the rest later."""
        allowed = len(body)
        if self._server.bandwidth and allowed:
            allowed = int((self._loop.time() - began + TICK) * self._server.bandwidth)
        self._transport.write(body[sent:allowed])
        if allowed < len(body) and not self._transport.is_closing():
            self._loop.call_later(TICK, self._write, body, began, max(sent, allowed))
            return
        self._is_busy = False
        self._next()


def _changed(server: LoopbackS3, request: _Request, body: bytes) -> tuple[int, bytes, dict[str, str]]:
    """Write, remove or list what a request names; return status, body and headers of the answer."""
    query, key = request.query, request.key
    if key.partition("/")[0] in server.faults.denied:
        return 403, b"<Error><Code>AccessDenied</Code></Error>", {}
    if "uploads" in query or "uploadId" in query:
        return _upload(server, request, body)
    server.counts[request.method] += 1
    if "delete" in query:
        names = re.findall(r"<Key>(.*?)</Key>", body.decode())
        for name in names:
            server.objects.pop(f"{key.rstrip('/')}/{unescape(name)}", None)
        gone = "".join(f"<Deleted><Key>{name}</Key></Deleted>" for name in names)
        return 200, f"<DeleteResult>{gone}</DeleteResult>".encode(), {"Content-Type": "application/xml"}
    if request.method == "DELETE":
        server.objects.pop(key, None)
        return 204, b"", {}
    is_new = request.headers.get("if-none-match") == "*" or request.headers.get("x-goog-if-generation-match") == "0"
    if is_new and key in server.objects:
        return 412, b"<Error><Code>PreconditionFailed</Code></Error>", {}
    server.put(key, body)
    return 200, b"", {"ETag": server.tags[key]}


def _upload(server: LoopbackS3, request: _Request, body: bytes) -> tuple[int, bytes, dict[str, str]]:
    """Begin, continue, complete, abort or list uploads in parts."""
    kind = {"Content-Type": "application/xml"}
    query, key = request.query, request.key
    if request.method == "GET":
        bucket = key.rstrip("/")
        open_ones = [
            f"<Upload><Key>{escape(name[len(bucket) + 1 :])}</Key><UploadId>{number}</UploadId></Upload>"
            for number, (name, _) in server.uploads.items()
            if name.startswith(f"{bucket}/{query.get('prefix', [''])[0]}")
        ]
        text = f"<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>{''.join(open_ones)}"
        return 200, f"{text}</ListMultipartUploadsResult>".encode(), kind
    if "uploads" in query:
        server.counts["uploads"] += 1
        number = f"u{server.counts['uploads']}-{len(server.objects)}"
        server.uploads[number] = (key, {})
        text = f"<InitiateMultipartUploadResult><UploadId>{number}</UploadId></InitiateMultipartUploadResult>"
        return 200, text.encode(), kind
    number = query["uploadId"][0]
    if number not in server.uploads:
        return 404, b"<Error><Code>NoSuchUpload</Code></Error>", kind
    if request.method == "DELETE":
        del server.uploads[number]
        return 204, b"", {}
    if request.method == "PUT":
        server.counts["parts"] += 1
        server.uploads[number][1][int(query["partNumber"][0])] = body
        return 200, b"", {"ETag": f'"{len(body)}"'}
    _, parts = server.uploads.pop(number)
    server.put(key, b"".join(parts[part] for part in sorted(parts)))
    tag = escape(server.tags[key])
    text = f"<CompleteMultipartUploadResult><ETag>{tag}</ETag></CompleteMultipartUploadResult>"
    return 200, text.encode(), kind


def _parsed(head: bytes) -> _Request:
    first, *lines = head.decode("latin-1").split("\r\n")
    method, target, _ = first.split(" ", 2)
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    parts = urlsplit(target)
    return _Request(method, unquote(parts.path).lstrip("/"), parse_qs(parts.query, keep_blank_values=True), headers)


def _range(text: str, size: int) -> tuple[int, int]:
    first, dash, last = text.removeprefix("bytes=").partition("-")
    if not dash:
        return 0, size
    return int(first), min(int(last) + 1, size) if last else size


def _listing(server: LoopbackS3, bucket: str, query: dict[str, list[str]]) -> bytes:
    prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
    after = query.get("continuation-token", [""])[0] or query.get("start-after", [""])[0]
    limit = min(int(query.get("max-keys", [PAGE])[0]), PAGE)
    start = len(bucket) + 1
    keys = sorted(key[start:] for key in server.objects if key.startswith(f"{bucket}/{prefix}"))
    entries: list[str] = []
    last = ""
    is_cut = False
    seen: set[str] = set()
    for key in keys:
        end = key.find(delimiter, len(prefix)) if delimiter else -1
        name = key if end < 0 else key[: end + len(delimiter)]
        if name in seen or (after and (name <= after)):
            continue
        if len(entries) == limit:
            is_cut = True
            break
        seen.add(name)
        last = name
        entries.append(_folder(name) if end >= 0 else _entry(server, bucket, key))
    token = f"<NextContinuationToken>{escape(last)}</NextContinuationToken>" if is_cut else ""
    return (
        '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
        f"<Name>{escape(bucket)}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{len(entries)}</KeyCount>"
        f"<MaxKeys>{limit}</MaxKeys><IsTruncated>{str(is_cut).lower()}</IsTruncated>{token}{''.join(entries)}"
        "</ListBucketResult>"
    ).encode()


def _azure_listing(server: LoopbackS3, request: _Request) -> bytes:
    """Return a listing as Azure gives it, all in one answer."""
    container, prefix = request.key.rstrip("/"), request.query.get("prefix", [""])[0]
    delimiter = request.query.get("delimiter", [""])[0]
    blobs: dict[str, str] = {}
    for key in sorted(server.objects):
        name = key[len(container) + 1 :]
        if not key.startswith(f"{container}/{prefix}"):
            continue
        end = name.find(delimiter, len(prefix)) if delimiter else -1
        if end >= 0:
            folder = escape(name[: end + 1])
            blobs[folder] = f"<BlobPrefix><Name>{folder}</Name></BlobPrefix>"
            continue
        about = f"<Content-Length>{len(server.objects[key])}</Content-Length><Etag>{escape(server.tags[key])}</Etag>"
        about += "<Content-Type>x</Content-Type>"
        about += f"<Last-Modified>{formatdate(WHEN, usegmt=True)}</Last-Modified>"
        blobs[name] = f"<Blob><Name>{escape(name)}</Name><Properties>{about}</Properties></Blob>"
    return f"<EnumerationResults><Blobs>{''.join(blobs.values())}</Blobs><NextMarker/></EnumerationResults>".encode()


def _folder(name: str) -> str:
    return f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>"


def _entry(server: LoopbackS3, bucket: str, key: str) -> str:
    content, tag = server.objects[f"{bucket}/{key}"], server.tags[f"{bucket}/{key}"]
    return (
        f"<Contents><Key>{escape(key)}</Key><LastModified>2023-11-14T22:13:20.000Z</LastModified>"
        f"<ETag>{escape(tag)}</ETag><Size>{len(content)}</Size><StorageClass>STANDARD</StorageClass>"
        "</Contents>"
    )


def main() -> None:
    """Serve the files of a folder as a bucket, and print the port."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--bucket", default="data")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds")
    parser.add_argument("--bandwidth", type=float, default=0.0, help="bytes per second of each connection")
    given = parser.parse_args()
    server = LoopbackS3(latency=given.latency, bandwidth=given.bandwidth)
    server.put_folder(given.bucket, given.folder)
    server.serve(lambda: print(server.port, flush=True))


if __name__ == "__main__":
    main()
