"""Everything that lists containers follows from the registry."""

from __future__ import annotations

import io
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import click
import pytest
from dataset_cases import plain_samples, write

from pixelmill.cli.group import main
from pixelmill.errors import ArgumentError
from pixelmill.formats.containers import CONTAINERS, FORMATS, get_format
from pixelmill.formats.registry import FILE_FORMATS, open_dataset, open_shard, shard_names

PACKAGE = Path(sys.modules["pixelmill.formats.containers"].__file__ or "").parent


@pytest.mark.parametrize("name", FORMATS)
def test_a_container_describes_itself(name: str) -> None:
    format = get_format(name)
    assert format.name == name and format.title
    assert all(getattr(format.fields, field.name) for field in fields(format.fields))
    assert (format.sniff is None) == (format.storage != "records")
    assert (name in FILE_FORMATS) == (format.storage != "records")
    if format.storage == "records":
        assert format.endings and shard_names(name)["records"].endswith(tuple(format.endings))
    names = format.shard_names(number=3, count=10)
    assert all("-00003-of-00010" in file for file in names.values())
    assert all(format.is_shard_name(file, purpose) for purpose, file in names.items())
    assert not any(format.is_shard_name(f"x{file}", purpose) for purpose, file in names.items())


def test_every_package_is_registered() -> None:
    packages = {path.parent.name for path in PACKAGE.glob("*/__init__.py") if "FORMAT = " in path.read_text("utf-8")}
    assert packages == set(CONTAINERS.values())


@pytest.mark.parametrize("wanted", ["", "format"])
@pytest.mark.parametrize("name", ["tfrecord", "pack"])
def test_opening_record_files_does_not_import_every_container(name: str, wanted: str, tmp_path: Path) -> None:
    write(tmp_path, name, plain_samples(3))
    others = {f"pixelmill.formats.{package}" for package in ("coco", "yolo", "voc", "parquet", "lmdb")}
    program = (
        "import sys; from pixelmill.formats.registry import open_dataset; "
        f"open_dataset(sys.argv[1], sys.argv[2] or None); print(*sorted({others!r} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program, str(tmp_path), wanted and name]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == []


@pytest.mark.parametrize(
    ("command", "option"),
    [("convert", "to"), ("convert", "source_format"), ("augment", "to")]
    + [(command, "format") for command in ("info", "verify", "preview")],
)
def test_commands_offer_all_containers(command: str, option: str) -> None:
    found = main.get_command(click.Context(main), command)
    assert found is not None
    (parameter,) = [p for p in found.params if p.name == option]
    assert isinstance(parameter.type, click.Choice)
    assert tuple(parameter.type.choices) == FORMATS


def test_names_are_offered_without_loading_containers() -> None:
    code = "import sys, pixelmill.cli.group; print('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


def test_an_unknown_container_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"format must be one of folder, list, .*, got 'no-such'"):
        open_dataset(tmp_path, "no-such")
    with pytest.raises(ArgumentError, match="got 'no-such'"):
        open_shard("no-such", lambda name: (tmp_path / name).open("wb"))
    assert "no-such" not in FILE_FORMATS


# A container in one package and one line, with nothing but a dataset and a writer: a file of lines.
TWIG = """
import base64
from pixelmill.formats.dataset import Dataset, ShardWriter
from pixelmill.formats.format import Fields, Format
from pixelmill.formats.index import Index
from pixelmill.formats.sample import Sample
import numpy as np

class TwigDataset(Dataset):
    format = "twig"
    layout = "lines"
    def __init__(self, source, files):
        self.source = source
        self._rows, places = [], []
        for number, path in enumerate(files):
            offset = 0
            for line in open(path, "rb"):
                if offset:
                    places.append((number, offset, len(line)))
                    self._rows.append(line.decode().rstrip("\\n").split("\\t"))
                offset += len(line)
        columns = np.array(places, np.int64).reshape(-1, 3).T
        self.index = Index(list(files), *(column.copy() for column in columns))
    def sample(self, number):
        key, extension, label, image = self._rows[number]
        return Sample(key, base64.b64decode(image), extension, (int(label),))
    def size(self, number):
        return int(self.index.lengths[number])

class TwigWriter(ShardWriter):
    def __init__(self, open_file, names):
        super().__init__(open_file, names)
        self._stream = open_file(names["records"])
        self._stream.__enter__()
        self._stream.write(b"TWIG\\n")
    def add(self, sample, *, name=None):
        image = base64.b64encode(sample.image).decode()
        self._stream.write(f"{sample.key}\\t{sample.extension}\\t{sample.labels[0]}\\t{image}\\n".encode())
        self.samples += 1
    def close(self):
        self._stream.__exit__(None, None, None)

FORMAT = Format(
    name="twig", title="a twig", storage="records", open=lambda source: TwigDataset(source.shown, source.files),
    fields=Fields("a", "b", "c", "d", "e", "f"), writer=TwigWriter, shard_files={"records": "data{}.twig"},
    sniff=lambda start: start.startswith(b"TWIG"), endings=("twig",),
)
"""

PROGRAM = """
import sys
import pixelmill.formats
from pixelmill.formats import containers
pixelmill.formats.__path__.append(sys.argv[1])
containers.CONTAINERS = {**containers.CONTAINERS, "twig": "twig"}
containers.FORMATS = tuple(containers.CONTAINERS)

from pixelmill import Pipeline, fn
from pixelmill.cli import main
from pixelmill.formats.registry import open_dataset

for line in (
    "convert photos out --to twig --num-shards 2 --json",
    "info out --from twig --json",
    "verify out --json",
    "preview out --output sheet.png --json",
    "convert out back --to folder --json",
):
    main(line.split(), standalone_mode=False)
pipe = Pipeline(6, 1, 0)
with pipe:
    data = fn.readers.dataset("out")
    pipe.set_outputs(fn.decoders.image(data["image"]), data["label"])
images, labels = pipe.run()
assert [int(labels.at(n)[0]) for n in range(6)] == [0, 0, 1, 1, 2, 2]
assert images.at(0).shape == (9, 13, 3)
assert [s.image for s in open_dataset("back")] == [s.image for s in open_dataset("photos")]
print("all")
"""


def test_a_package_and_a_line_are_a_container(tmp_path: Path) -> None:
    (tmp_path / "packages" / "twig").mkdir(parents=True)
    (tmp_path / "packages" / "twig" / "__init__.py").write_text(TWIG)
    write(tmp_path / "photos", "folder", plain_samples(6), classes=("ant", "bee", "cat"))
    command = [sys.executable, "-c", PROGRAM, str(tmp_path / "packages")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.endswith("all\n"), done.stderr
    assert sorted(path.name for path in (tmp_path / "out").glob("*.twig")) == [
        "data-00000-of-00002.twig",
        "data-00001-of-00002.twig",
    ]


def test_a_shard_is_the_first_unless_said_otherwise() -> None:
    opened: list[str] = []

    def open_file(name: str) -> io.BytesIO:
        opened.append(name)
        return io.BytesIO()

    open_shard("tfrecord", open_file, count=5).close()
    assert opened and all("-00000-of-00005" in name for name in opened)
    opened.clear()
    open_shard("tfrecord", open_file, number=2, count=5).close()
    assert opened and all("-00002-of-00005" in name for name in opened)
