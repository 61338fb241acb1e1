"""Addresses that cannot be opened: one sentence with the next step, and no traceback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from command_runner import CliRunner
from loopback_s3 import Faults, LoopbackS3

from pixelmill import convert
from pixelmill.cli import main
from pixelmill.create import create_images
from pixelmill.storage import object_store


class SilentHandler(SimpleHTTPRequestHandler):
    """Sends whole files; clients that close the connection early are no news."""

    def log_message(self, *_: object) -> None:
        """Write nothing."""

    def copyfile(self, source: Any, outputfile: Any) -> None:
        with suppress(OSError):
            super().copyfile(source, outputfile)


@pytest.fixture(scope="module")
def server() -> Iterator[LoopbackS3]:
    found = LoopbackS3(faults=Faults(denied={"secret"}))
    found.put("data/x.jpg", b"x")
    with found.running():
        yield found


@pytest.fixture(autouse=True)
def environment(server: LoopbackS3, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    monkeypatch.setenv("PIXELMILL_CACHE", str(tmp_path))
    for name in ("AWS_PROFILE", "AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_CONNECTION_STRING"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("nonsense://x/y", "is not an address that fsspec knows: Protocol not known: nonsense; s3://, gs://"),
        ("s3://nobucket/x", "there is no bucket 'nobucket'; check its name"),
        ("s3:///x", "s3:///x names no bucket; write s3://BUCKET/x"),
        ("s3://secret/x", "access denied; check the credentials"),
        ("az://container/x", "Account must be specified; set AZURE_STORAGE_ACCOUNT_NAME"),
        ("gs://bucket/x", "check GOOGLE_APPLICATION_CREDENTIALS"),
        ("hdfs://x/y", "pip install 'pixelmill[remote]'"),
    ],
)
@pytest.mark.parametrize("command", ["info", "verify", "convert"])
def test_commands_say_what_is_wrong(
    command: str, address: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nonexistent")
    more = [str(tmp_path / "out"), "--to", "tfrecord"] if command == "convert" else []
    result = CliRunner().invoke(main, [command, address, *more])
    assert result.exit_code != 0
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    assert sentence in " ".join(result.output.split()) and "Traceback" not in result.output


@pytest.mark.parametrize(
    ("code", "status", "sentence"),
    [
        ("PermanentRedirect", 301, "the bucket is in another region; set AWS_REGION"),
        ("AuthorizationHeaderMalformed", 400, "the bucket is in another region; set AWS_REGION"),
    ],
)
def test_a_wrong_region_is_named(code: str, status: int, sentence: str, server: LoopbackS3) -> None:
    server.faults.answer = (status, code)
    try:
        result = CliRunner().invoke(main, ["info", "s3://data/x"])
    finally:
        server.faults.answer = None
    assert result.exit_code != 0 and sentence in " ".join(result.output.split())


def test_obstore_is_optional(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_store.importlib.util, "find_spec", lambda name: None)
    object_store.forget_stores()
    try:
        assert object_store.locate("s3://data/x", {}) is None  # fsspec opens it
    finally:
        object_store.forget_stores()


@pytest.mark.parametrize(
    "command",
    [
        ["create-tfrecords", "--source_path", "s3://data/photos", "--dest_path", "out", "--name", "x"],
        ["create-recordio", "--source_path", "s3://data/photos", "--dest_path", "out", "--name", "x"],
        ["segmentation", "s3://data/photos", "out"],
        ["bench", "s3://data/photos"],
    ],
)
def test_what_needs_local_files_says_so(command: list[str]) -> None:
    result = CliRunner().invoke(main, command)
    assert result.exit_code == 1
    assert "s3://data/photos is remote, and local files are needed; copy it first: pixelmill convert" in result.stderr


def test_what_writes_local_files_says_so(tmp_path: Path) -> None:
    command = ["create-recordio", "--source_path", str(tmp_path), "--dest_path", "s3://data/out", "--name", "x"]
    result = CliRunner().invoke(main, command)
    assert "write to a folder, then copy it: pixelmill convert FOLDER s3://data/out --to FORMAT" in result.stderr


def test_recipes_may_be_at_addresses(server: LoopbackS3) -> None:
    server.put("data/gentle.yaml", b"steps:\n- flip: {horizontal: 1}\n")
    assert "gentle: 1 step;" in CliRunner().invoke(main, ["recipe", "validate", "s3://data/gentle.yaml"]).output
    server.put("data/bad.yaml", b"steps: [")
    for name, text in (("bad", "s3://data/bad.yaml is not YAML"), ("none", "s3://data/none.yaml")):
        result = CliRunner().invoke(main, ["recipe", "validate", f"s3://data/{name}.yaml"])
        assert result.exit_code == 1 and text in result.stderr


def test_a_web_server_without_ranges_is_named(tmp_path: Path) -> None:
    create_images(tmp_path / "photos", "i", 24, 32, 3, "jpg", 5, workers=1)
    convert(tmp_path / "photos", tmp_path / "tar", to="webdataset", workers=1)
    handler = partial(SilentHandler, directory=str(tmp_path / "tar"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as web:
        thread = Thread(target=web.serve_forever)
        thread.start()
        try:
            result = CliRunner().invoke(main, ["info", f"http://127.0.0.1:{web.server_address[1]}/data.tar"])
        finally:
            web.shutdown()
            thread.join()
    assert result.exit_code != 0
    assert (
        "the server does not support range requests, which reading parts of files needs; download the files"
        in result.stderr
    )
