"""Packs a module that was cross-compiled for Windows, and the Python files of the package, as a wheel.

    python windows_wheel.py MODULE SOURCES FOLDER

SOURCES has the sources of the libraries that are linked in; their licenses go into the wheel.
"""

from __future__ import annotations

import base64
import hashlib
import sys
import zipfile
from importlib.metadata import distribution
from pathlib import Path

ROOT = Path(__file__).parents[2]
LICENSES = ("libjpeg-turbo-*/LICENSE.md", "libjpeg-turbo-*/README.ijg", "libpng-*/LICENSE")
TIME = (2020, 1, 1, 0, 0, 0)  # equal files make equal wheels


def main() -> None:
    """Write the wheel and print its path and size."""
    module, sources, folder = map(Path, sys.argv[1:])
    installed = distribution("pixelmill")
    info = f"pixelmill-{installed.version}.dist-info"
    tag = f"cp311-{module.name.split('.')[1]}"
    files = {path.relative_to(ROOT / "src").as_posix(): path.read_bytes() for path in package_files()}
    files[f"pixelmill/{module.name}"] = module.read_bytes()
    for pattern in LICENSES:
        for path in sources.glob(pattern):
            files[f"{info}/licenses/{path.parent.name}/{path.name}"] = path.read_bytes()
    files[f"{info}/licenses/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    files[f"{info}/METADATA"] = (installed.read_text("METADATA") or "").encode()
    files[f"{info}/entry_points.txt"] = (installed.read_text("entry_points.txt") or "").encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: windows_wheel.py\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    )
    record = f"{info}/RECORD"
    files[record] = "".join([*(line(name, data) for name, data in files.items()), f"{record},,\n"]).encode()
    folder.mkdir(exist_ok=True)
    wheel = folder / f"pixelmill-{installed.version}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, TIME), data, zipfile.ZIP_DEFLATED)
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, {len(files)} files")


def package_files() -> list[Path]:
    """Return the files of the package, without what builds and runs leave beside them."""
    found = (path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return sorted(path for path in found if path.suffix not in (".so", ".pyd", ".pyc") and ".egg-info" not in str(path))


def line(name: str, data: bytes) -> str:
    """Return the line of a file in RECORD."""
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


if __name__ == "__main__":
    main()
