"""Any libjpeg-turbo may be loaded at run time: nothing depends on what differs between its versions."""

from __future__ import annotations

import base64
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import PIL
import pytest
from encoded_images import encode
from PIL import Image

from pixelmill.create import photo

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="LD_PRELOAD and LD_DEBUG are of Linux")

# 24x24 pixels in 4:2:0, written by `cjpeg -arithmetic`: Pillow writes no such files.
ARITHMETIC = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABQODxIPDRQSEBIXFRQYHjIhHhwcHj0sLiQySUBMS0dARkVQWnNiUFVtVkVGZIhlbXd7gYKBTmCNl4"
    "x9lnN+gXz/2wBDARUXFx4aHjshITt8U0ZTfHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHx8fHz/yQARCAAY"
    "ABgDASIAAhEBAxEB/8wACgAQEAUBEBEF/9oADAMBAAIRAxEAPwD/AGp8UGWEE/l0tccyfPaOYmQ7oqHwjLs6OzrgVTKhEek/UdAl20qUU5R1h7"
    "p7fgGtVvdLdSR4ZE0GwfC6Rz84EriIdvymECXXqdwyshHz35gJAdECSYD/2Q=="
)

PROGRAM = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from pixelmill import _core, fn, pipeline_def
def digest(data):
    return hashlib.sha256(data).hexdigest()

def decoded(file, *arguments, by_library):
    try:
        return digest(_core.decode_jpeg(file, *arguments, by_library=by_library).tobytes())
    except RuntimeError as fault:
        return str(fault)

results = {}
image = np.arange(70 * 90 * 3, dtype=np.uint8).reshape(70, 90, 3)
for quality in (30, 90, 100):
    for subsampling in ("4:4:4", "4:2:2", "4:2:0"):
        file = _core.encode_jpeg(image, quality, subsampling)
        results[f"encode {quality} {subsampling}"] = digest(file)
        by_library = _core.encode_jpeg_by_libjpeg(image, quality, subsampling)
        results[f"libjpeg encodes {quality} {subsampling}"] = digest(by_library)

for path in sorted(Path(sys.argv[1]).glob("*.jpg")):
    for by_library in (False, True):
        for part, denominator in (((0, 0, 24, 24), 1), ((5, 7, 11, 9), 1), ((1, 2, 9, 8), 2), ((0, 0, 3, 3), 8)):
            results[f"{path.name} {part} 1/{denominator} {by_library}"] = decoded(
                path.read_bytes(), part, denominator, "rgb", 3, by_library=by_library)

@pipeline_def(batch_size=1, num_threads=1, device_id=None)
def both_ways():
    data = fn.external_source(source=[[image]], layout="HWC")
    file = fn.encoders.image(data, quality=90)
    return file, fn.decoders.image(file), fn.jpeg_compression_distortion(data, quality=40)

for number, output in enumerate(both_ways().run()):
    results[f"pipeline {number}"] = digest(np.ascontiguousarray(output.at(0)).tobytes())
print(json.dumps(results))
"""


def other_libraries():
    """Find libraries of the same ABI that wheels bring along. OpenCV links its own into its module."""
    packages = Path(PIL.__file__).parent.parent
    return sorted(library for folder in packages.glob("*.libs") for library in folder.glob("libjpeg-*.so.62*"))


def files():
    """Make files for our decoder, and those that only libjpeg decodes: rare kinds and damaged ones."""
    image = photo(3, 0, height=24, width=24)
    sequential = bytes(encode(image, "JPEG", quality=85))
    progressive = bytes(encode(image, "JPEG", progressive=True))
    marked = bytes(encode(image, "JPEG", restart_marker_blocks=1, subsampling=0))
    if b"\xff\xd1" not in marked:
        pytest.skip("Pillow before 10.2 writes no restart markers")
    flipped = bytearray(marked)
    flipped[marked.index(b"\xff\xd1") + 1] = 0xD6
    return {
        "sequential": sequential,
        "gray": bytes(encode(Image.fromarray(image).convert("L"), "JPEG")),
        "rgb": bytes(encode(image, "JPEG", keep_rgb=True, subsampling=0)),
        "progressive": progressive,
        "cmyk": bytes(encode(Image.fromarray(image).convert("CMYK"), "JPEG")),
        "arithmetic": ARITHMETIC,
        "truncated": sequential[: len(sequential) * 3 // 4],
        "truncated progressive": progressive[: len(progressive) * 3 // 4],
        "wrong restart": bytes(flipped),
        "noise in the scan": sequential[:-40] + np.random.default_rng(1).bytes(30) + sequential[-10:],
        "no tables": sequential.replace(b"\xff\xc4", b"\xff\xec"),
        "header only": sequential[:300],
    }


def run_with(library, folder):
    """Encode and decode in a process of its own; return its results, and the libraries whose functions it called."""
    environment = {**os.environ, "LD_DEBUG": "bindings", "LD_DEBUG_OUTPUT": str(folder / "bindings")}
    if library:
        environment["LD_PRELOAD"] = str(library)
    command = [sys.executable, "-c", PROGRAM, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    bound = set()
    for log in folder.glob("bindings.*"):
        text = log.read_text("utf-8", "replace")
        bound |= set(re.findall(r"binding file \S*/_core\.\S+ \[0\] to (\S+) \[0\]: normal symbol `jpeg_", text))
        log.unlink()
    return json.loads(done.stdout), bound


def test_other_versions_of_libjpeg_turbo_change_nothing(tmp_path):
    libraries = other_libraries()
    assert libraries, "Pillow's wheel brings a libjpeg-turbo"
    for name, data in files().items():
        (tmp_path / f"{name}.jpg").write_bytes(data)
    wanted, systems = run_with(None, tmp_path)
    for library in libraries:
        results, bound = run_with(library, tmp_path)
        assert bound == {str(library)} and bound != systems
        assert results == wanted
