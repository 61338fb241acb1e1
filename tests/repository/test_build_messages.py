"""What a build says where something is missing: the one command that helps."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def configured(folder: Path, *options: str, **environment: str) -> str:
    """Configure a project of nothing but requirements.cmake; return what CMake says, in one line."""
    first = "cmake_minimum_required(VERSION 3.20)\nproject(probe LANGUAGES CXX)\n"
    (folder / "CMakeLists.txt").write_text(f"{first}include({ROOT}/native/requirements.cmake)\n")
    command = ["cmake", "-S", str(folder), "-B", str(folder / "build"), *options]
    inherited = {name: value for name, value in os.environ.items() if name != "CONDA_PREFIX"}
    done = subprocess.run(command, env=inherited | environment, capture_output=True, text=True)
    text = " ".join((done.stdout + done.stderr).split())
    assert (done.returncode != 0) == ("FATAL" in text or "CMake Error" in text), text
    return text


def hidden(*libraries: str) -> list[str]:
    """Return options that make CMake search none of the libraries."""
    return [f"-DCMAKE_DISABLE_FIND_PACKAGE_{library}=ON" for library in libraries]


def test_a_complete_system_is_accepted(tmp_path: Path) -> None:
    assert "Configuring done" in configured(tmp_path)


@pytest.mark.skipif(not Path("/etc/debian_version").exists(), reason="the command of Debian")
@pytest.mark.parametrize(
    ("libraries", "names", "packages"),
    [
        (("JPEG",), "libjpeg-turbo not found", "libjpeg-dev and"),
        (("PNG",), "libpng with zlib not found", "libpng-dev and"),
        (("JPEG", "ZLIB"), "libjpeg-turbo and libpng with zlib not found", "libjpeg-dev libpng-dev and"),
    ],
)
def test_a_missing_codec_is_named_with_the_next_command(
    tmp_path: Path, libraries: tuple[str, ...], names: str, packages: str
) -> None:
    text = configured(tmp_path, *hidden(*libraries))
    assert names in text and f"Next: sudo apt-get install -y {packages} run the same command again" in text
    text = configured(tmp_path, *hidden(*libraries), CONDA_PREFIX="/opt/conda")
    assert "conda install -c conda-forge lib" in text and "apt-get" not in text


def test_another_jpeg_library_is_refused(tmp_path: Path) -> None:
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "jpeglib.h").write_text("#define JPEG_LIB_VERSION 90\n")
    text = configured(tmp_path, f"-DJPEG_INCLUDE_DIR={tmp_path / 'include'}")
    assert "is another one than libjpeg-turbo" in text and "libjpeg-turbo not found" in text


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("-DCMAKE_SIZEOF_VOID_P=4", "needs a 64-bit platform"),
        ("-DCMAKE_CXX_BYTE_ORDER=BIG_ENDIAN", "is big-endian"),
        ("-DCMAKE_CXX_COMPILER_VERSION=9.4.0", "needs C++20"),
    ],
)
def test_an_unsupported_platform_is_named(tmp_path: Path, option: str, words: str) -> None:
    """The variables are set before the file is read, as a compiler for such a platform sets them."""
    name, _, value = option.removeprefix("-D").partition("=")
    (tmp_path / "platform.cmake").write_text(f"set({name} {value})\n")
    assert words in configured(tmp_path, f"-DCMAKE_PROJECT_probe_INCLUDE={tmp_path / 'platform.cmake'}")
