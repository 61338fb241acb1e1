"""Cross-builds the package for aarch64, so that qemu runs it with Debian's Python for that processor.

Everything is in build/platforms/aarch64: Debian's packages of the other architecture, unpacked, and wheels for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from platforms_python import NotHereError, Packages

RELEASE, VERSION = "bookworm", "3.11"
EMULATOR, COMPILER = "qemu-aarch64-static", "aarch64-linux-gnu-g++"
NEEDED = {EMULATOR: "qemu-user-static", COMPILER: "g++-aarch64-linux-gnu"}
TAGS = ("manylinux2014_aarch64", "manylinux_2_27_aarch64", "manylinux_2_28_aarch64", "manylinux_2_34_aarch64")


def prepare(project: Path, home: Path, requirements: list[str]) -> list[str]:
    """Build the package; return the command that runs the Python that has it."""
    missing = [package for program, package in NEEDED.items() if shutil.which(program) is None]
    if not Path("/usr/include/simde").is_dir():
        missing.append("libsimde-dev")
    if missing:
        raise NotHereError(f"apt install {' '.join(missing)}")
    root, site = home / "root", home / "site"
    if not (root / "usr/bin" / f"python{VERSION}").exists():
        python = [f"python{VERSION}-minimal", f"libpython{VERSION}-dev", f"libpython{VERSION}-stdlib"]
        libraries = ["libjpeg62-turbo-dev", "libpng-dev", "zlib1g-dev", "libstdc++6"]
        Packages(RELEASE, home / "packages", "arm64").extract(python + libraries, root)
    shutil.rmtree(site, ignore_errors=True)
    _run(
        sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_wheels(site), *requirements
    )
    module = _module(project, home / "build", root)
    for package in ("pixelmill", "imagine"):
        shutil.copytree(project / "src" / package, site / package)
    shutil.copy(module, site / "pixelmill" / f"_core.cpython-{VERSION.replace('.', '')}-aarch64-linux-gnu.so")
    return command(home, EMULATOR)


def command(home: Path, *emulator: str) -> list[str]:
    """Return the command that runs the Python for aarch64 which has the package."""
    root = home / "root"
    environment = {"PYTHONHOME": root / "usr", "PYTHONPATH": home / "site", "PYTHONNOUSERSITE": "1"}
    settings = [part for name, value in environment.items() for part in ("-E", f"{name}={value}")]
    return [*emulator, "-L", str(root), *settings, str(root / "usr/bin" / f"python{VERSION}")]


def _wheels(site: Path) -> list[str]:
    tags = [part for tag in TAGS for part in ("--platform", tag)]
    return [*tags, "--python-version", VERSION, "--only-binary", ":all:", "--target", str(site)]


def _module(project: Path, build: Path, root: Path) -> Path:
    """Compile the module for aarch64."""
    import nanobind  # type: ignore[import-not-found,import-untyped,unused-ignore]

    include, library = root / "usr/include", root / "usr/lib/aarch64-linux-gnu"
    # Headers of the C library come from the cross compiler; those of the codecs, after them, from Debian's packages.
    flags = " ".join(f"-idirafter {folder}" for folder in (include, include / "aarch64-linux-gnu", "/usr/include"))
    options = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_CXX_COMPILER": COMPILER,
        "CMAKE_CXX_FLAGS": flags,
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",  # of a release nanobind strips the names of functions, which counts need
        "CMAKE_CXX_FLAGS_RELWITHDEBINFO": "-O3 -DNDEBUG",
        "CMAKE_SHARED_LINKER_FLAGS": f"-Wl,-rpath-link,{library}",
        "CMAKE_MODULE_LINKER_FLAGS": f"-Wl,-rpath-link,{library}",
        "SKBUILD": "2",
        "nanobind_DIR": nanobind.cmake_dir(),
        "Python_EXECUTABLE": sys.executable,
        "Python_INCLUDE_DIR": include / f"python{VERSION}",
        "NB_SUFFIX": ".so",
        "JPEG_LIBRARY": library / "libjpeg.so",
        "JPEG_INCLUDE_DIR": include,
        "PNG_LIBRARY": library / "libpng.so",
        "PNG_PNG_INCLUDE_DIR": include,
        "ZLIB_LIBRARY": library / "libz.a",  # the link of libz.so is absolute
        "ZLIB_INCLUDE_DIR": include,
        "STATIC_ZLIB": library / "libz.a",
    }
    if "CMAKE_CXX_COMPILER_LAUNCHER" in os.environ:
        options["CMAKE_CXX_COMPILER_LAUNCHER"] = os.environ["CMAKE_CXX_COMPILER_LAUNCHER"]
    _run("cmake", "-S", str(project), "-B", str(build), *[f"-D{name}={value}" for name, value in options.items()])
    _run("cmake", "--build", str(build), "--parallel", str(os.cpu_count() or 1))
    return next(build.glob("_core*.so"))


def _run(*command: str) -> None:
    subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
