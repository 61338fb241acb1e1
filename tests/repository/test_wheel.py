"""The script that makes wheels: licenses of bundled libraries, one version, its record."""

import base64
import contextlib
import csv
import hashlib
import importlib.metadata
import sys
import zipfile
from pathlib import Path

import pytest
from locations import ROOT

import pixelmill

sys.path.insert(0, str(ROOT / "scripts"))
import build_wheel


def make_wheel(path: Path, libraries: list[str]) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("pixelmill/__init__.py", "")
        for library in libraries:
            archive.writestr(f"pixelmill.libs/{library}", b"\x7fELF")
        archive.writestr("pixelmill-1.dist-info/RECORD", "pixelmill/__init__.py,,\n")
    return path


@pytest.fixture
def licenses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, files in build_wheel.LICENSES.items():
        file = tmp_path / "doc" / files[0]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"terms of {name}")
    monkeypatch.setattr(build_wheel, "LICENSE_FOLDERS", (tmp_path / "doc",))
    return tmp_path / "doc"


def test_every_bundled_library_brings_its_license(tmp_path: Path, licenses: Path) -> None:
    made = make_wheel(tmp_path / "a.whl", ["libjpeg-dad8.so.62.3.0", "libpng16-0a0c.so.16.39.0"])
    build_wheel.add_licenses(made)
    with zipfile.ZipFile(made) as archive:
        for name in ("libjpeg", "libpng", "libz"):
            text = archive.read(f"pixelmill-1.dist-info/licenses/{name}.txt")
            assert text == f"terms of {name}".encode()
        rows = {row[0]: row[1:] for row in csv.reader(archive.read("pixelmill-1.dist-info/RECORD").decode().split())}
    digest = base64.urlsafe_b64encode(hashlib.sha256(b"terms of libz").digest()).rstrip(b"=").decode()
    assert rows["pixelmill-1.dist-info/licenses/libz.txt"] == [f"sha256={digest}", "13"]
    assert "pixelmill/__init__.py" in rows


def test_a_library_without_a_known_license_is_refused(tmp_path: Path, licenses: Path) -> None:
    with pytest.raises(SystemExit, match=r"libtiff is bundled"):
        build_wheel.add_licenses(make_wheel(tmp_path / "a.whl", ["libtiff-1234.so.6"]))


def test_a_license_that_is_not_there_is_named(tmp_path: Path, licenses: Path) -> None:
    for file in build_wheel.LICENSES["libpng"]:
        (licenses / file).unlink(missing_ok=True)
    with pytest.raises(SystemExit, match=r"the license of libpng is in none of"):
        build_wheel.add_licenses(make_wheel(tmp_path / "a.whl", ["libpng16-0a0c.so.16"]))


def test_the_version_stands_in_one_place() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert pixelmill.__version__ not in project.partition("[project.optional-dependencies]")[0]
    assert importlib.metadata.version("pixelmill") == pixelmill.__version__


@pytest.mark.parametrize("said", ["1 2\n", "1 3\n"])
def test_first_program_of_the_page_prints_what_the_page_says(tmp_path: Path, said: str) -> None:
    page = f"# Page\n\n```python\nprint(1, 2)\n```\n\n```text\n{said}```\n\n```python\nprint(5)\n```\n"
    expected = contextlib.nullcontext() if said == "1 2\n" else pytest.raises(SystemExit, match=r"prints\n1 2\n")
    with expected:
        build_wheel.run_first_program(page, Path(sys.executable), {"HOME": str(tmp_path)})
