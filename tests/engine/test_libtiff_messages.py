"""What libtiff says becomes the message of the sample, and is not printed."""

from __future__ import annotations

import io
import threading

import numpy as np
import pytest
from PIL import Image

from pixelmill.engine.pillow_decoder import decode
from pixelmill.formats.sample import pillow_message


def tiff(compression: str, *, damaged: bool) -> bytes:
    mode = "1" if compression == "group4" else "RGB"
    pixels = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    stream = io.BytesIO()
    Image.fromarray(pixels).convert(mode).save(stream, "TIFF", compression=compression)
    data = bytearray(stream.getvalue())
    if damaged:
        for at in range(len(data) // 4, len(data) // 2, 37):
            data[at] ^= 0x55
    return bytes(data)


@pytest.mark.parametrize("compression", ["tiff_lzw", "tiff_deflate", "group4"])
def test_damage_is_named_and_not_printed(compression: str, capfd: pytest.CaptureFixture[str]) -> None:
    pixels, kind, message = decode(tiff(compression, damaged=False), "TIFF")
    assert pixels is not None and kind == message == ""
    pixels, kind, message = decode(tiff(compression, damaged=True), "TIFF")
    assert pixels is None and kind in ("corrupt", "truncated")
    assert message.startswith("TIFF: ") and "decoder error" not in message and "\n" not in message
    assert capfd.readouterr() == ("", "")


def test_threads_hear_of_their_own_files() -> None:
    results: dict[bool, list[bool]] = {True: [], False: []}

    def work(damaged: bool) -> None:
        data = tiff("group4", damaged=damaged)
        results[damaged] += [decode(data, "TIFF")[0] is None for _ in range(20)]

    threads = [threading.Thread(target=work, args=(damaged,)) for damaged in (True, False)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {True: [True] * 20, False: [False] * 20}


def test_messages_hold_no_addresses_of_objects() -> None:
    _, kind, message = decode(b"GIF89a\x10\0\x10\0\0\0\0garbage", "GIF")
    assert (kind, message) == ("corrupt", "GIF: cannot identify image file")
    assert pillow_message(ValueError()) == "ValueError"
