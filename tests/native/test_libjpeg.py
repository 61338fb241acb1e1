"""libjpeg-turbo is used through its public interface only, in each of its ABIs."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from locations import ROOT

NATIVE = ROOT / "native"
SOURCES = sorted(path for path in NATIVE.rglob("*") if path.suffix in (".cpp", ".h", ".inl"))
USERS = [path for path in SOURCES if "jpeglib.h" in path.read_text("utf-8")]
PRIVATE_HEADERS = ("jpegint.h", "jinclude.h", "jdct.h", "jdhuff.h", "jchuff.h", "jdmaster.h", "jsimd.h", "jstdhuff.c")
# The members of libjpeg's structures that jpeglib.h declares as pointers to unknown types: modules of the library.
MODULES = (
    *("master", "main", "prep", "coef", "marker", "cconvert", "downsample", "fdct", "entropy"),
    *("inputctl", "idct", "upsample", "cquantize", "post"),
)


def headers() -> dict[str, Path]:
    """Find the public headers of libjpeg-turbo that the compiler sees."""
    program = "#include <cstdio>\n#include <jpeglib.h>\n#include <jerror.h>\n"
    command = ["c++", "-x", "c++", "-M", "-"]
    found = subprocess.run(command, input=program, capture_output=True, text=True, check=True).stdout
    paths = map(Path, re.findall(r"\S+/j\w+\.h", found))
    return {path.name: path for path in paths}


def test_few_files_know_libjpeg():
    assert {path.name for path in USERS} == {"libjpeg_decoder.cpp", "libjpeg_encoder.cpp", "versions.cpp"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_nothing_private_of_libjpeg_is_used(path):
    text = path.read_text("utf-8")
    assert not [name for name in PRIVATE_HEADERS if name in text]
    assert not re.search(rf"\binfo_?(?:\.|->)(?:{'|'.join(MODULES)})\b", text)
    assert not re.search(r"struct\s+jpeg_(?:entropy|decomp|comp|color|forward|inverse|input|d_|c_)\w+", text)


@pytest.mark.parametrize("version", [62, 70, 80])
@pytest.mark.parametrize("path", USERS, ids=lambda path: path.name)
def test_each_abi_of_libjpeg_turbo_compiles(path, version, tmp_path):
    for name, header in headers().items():
        shutil.copy(header, tmp_path / name)
    config = tmp_path / "jconfig.h"
    text, changed = re.subn(r"(#\s*define\s+JPEG_LIB_VERSION\s+)\d+", rf"\g<1>{version}", config.read_text())
    assert changed == 1
    config.write_text(text)
    command = ["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}", f"-I{NATIVE}"]
    done = subprocess.run([*command, str(path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
