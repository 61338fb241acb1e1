"""How stores are opened."""

from __future__ import annotations

import pytest
from peers import needs

from pixelmill.storage import object_store

pytestmark = needs("obstore")


@pytest.mark.parametrize(
    ("endpoint", "variable", "unsigned"),
    [
        (None, None, True),
        ("https://s3.example.com", None, True),
        ("http://127.0.0.1:9000", None, False),  # nothing else protects what is sent
        ("https://s3.example.com", "false", False),
        ("http://127.0.0.1:9000", "true", True),
    ],
)
def test_what_is_sent_over_tls_is_not_hashed(
    endpoint: str | None, variable: str | None, unsigned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_UNSIGNED_PAYLOAD", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
        monkeypatch.delenv(name, raising=False)
    if variable is not None:
        monkeypatch.setenv("AWS_UNSIGNED_PAYLOAD", variable)
    options = {"key": "t", "secret": "t", "client_kwargs": {"region_name": "us-east-1"}}
    place = object_store.locate("s3://bucket/x", {**options, **({"endpoint_url": endpoint} if endpoint else {})})
    assert place is not None
    assert (place.store.config.get("unsigned_payload", "false") == "true") is unsigned  # type: ignore[union-attr]
