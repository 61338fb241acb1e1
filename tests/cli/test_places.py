"""SRC and DST, by position or as options."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from command_runner import CliRunner
from dataset_cases import encoded

from pixelmill.cli import main
from pixelmill.cli.commands import UsageError
from pixelmill.cli.places import Places
from pixelmill.cli.running import progress_bar
from pixelmill.options.running import Progress

CONVERT = Places("source", "output", several=True)
AUGMENT = Places("source", "output", several=True, default="augmented")
INGEST = Places("input_dir", "output_dir")
CREATE = Places(output="path")
BENCH = Places("source", several=True, optional=True)


def split(places: Places, *words: str, source: str | None = None, output: str | None = None) -> dict[str, object]:
    with click.Context(click.Command("verb"), info_name="verb"):
        return places.split(words, source, output)


def test_the_last_name_is_the_destination() -> None:
    assert split(CONVERT, "a", "b") == {"source": "a", "output": "b"}
    assert split(CONVERT, "a", "b", "c") == {"source": ("a", "b"), "output": "c"}
    assert split(CONVERT, "a", "b", output="c") == {"source": ("a", "b"), "output": "c"}
    assert split(INGEST, "a", "b") == {"input_dir": "a", "output_dir": "b"}
    assert split(INGEST, source="a", output="b") == {"input_dir": "a", "output_dir": "b"}
    assert split(INGEST, "b", source="a") == {"input_dir": "a", "output_dir": "b"}
    assert split(CREATE, "out") == split(CREATE, output="out") == {"path": "out"}
    assert split(BENCH) == {"source": None} and split(BENCH, "a", "b") == {"source": ("a", "b")}


def test_files_without_a_destination_are_all_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As tfdali takes them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train-1").touch()
    (tmp_path / "folder").mkdir()
    assert split(AUGMENT, "train-0") == {"source": "train-0", "output": "augmented"}
    assert split(AUGMENT, "train-0", "train-1") == {"source": ("train-0", "train-1"), "output": "augmented"}
    for missing in ("b.tfrecord", "more-*"):  # not taken for a folder to write to
        assert split(AUGMENT, "a.tfrecord", missing)["output"] == "augmented"
    for folder in ("folder", "new", "s3://bucket/new"):
        assert split(AUGMENT, "train-1", folder) == {"source": "train-1", "output": folder}


def test_a_file_to_write_is_known_by_its_ending() -> None:
    places = Places("source", "output", several=True, default="preview.png", endings=(".png", ".html"))
    assert split(places, "photos", "look.HTML") == {"source": "photos", "output": "look.HTML"}
    assert split(places, "a.tfrecord", "b") == {"source": ("a.tfrecord", "b"), "output": "preview.png"}
    assert split(places, "photos", output="x.png") == {"source": "photos", "output": "x.png"}


@pytest.mark.parametrize(
    ("places", "words", "message"),
    [
        (CONVERT, (), "Missing SRC"),
        (CONVERT, ("a",), "Missing DST"),
        (INGEST, ("a", "b", "c"), "3 names for verb SRC DST: a, b, c"),
        (CREATE, ("a", "b"), "unexpected argument 'a'"),
    ],
)
def test_what_is_missing_or_too_much(places: Places, words: tuple[str, ...], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        split(places, *words)


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(UsageError, match="4 names for verb SRC DST: a, b, c, d"):
        split(INGEST, "b", "c", source="a", output="d")


@pytest.mark.parametrize(
    "words",
    [
        ["photos", "out"],
        ["photos", "-o", "out"],
        ["--input_dir=photos", "--output_dir=out"],
        ["--input-dir", "photos", "--output-dir", "out"],
        ["~/photos", "~/out"],
        ["--input_dir=~/photos", "--output=~/out"],
    ],
)
def test_every_spelling_writes_the_same(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for number in range(2):
        path = tmp_path / "photos" / "cat" / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encoded("jpeg", seed=number))
    done = CliRunner().invoke(main, ["ingest", *words, "--num_shards", "1", "--img-size=4", "--workers=1", "-q"])
    assert (done.exit_code, done.output) == (0, "")
    assert (tmp_path / "out" / "train-00000-of-00001").is_file()


def test_a_log_file_tells_the_story(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    create = ["create-images", "out", "--count=3", "--width=8", "--height=8", "--log-file=job.log"]
    assert CliRunner().invoke(main, create).exit_code == 0
    assert CliRunner().invoke(main, [*create, "--container=tfrecord"]).exit_code == 5
    lines = (tmp_path / "job.log").read_text("utf-8").splitlines()
    assert [line for line in lines if "shard 0: 3 samples" in line]
    assert "ended with exit code 0 after" in lines[3]
    assert " ERROR job: " in lines[-2] and "is not empty (img_0.png" in lines[-2]
    assert "the command failed after" in lines[-1]


def test_verbose_prints_the_log(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["create-images", str(tmp_path / "out"), "--width=8", "--height=8", "-v"])
    assert "writes 1 shard to" in done.stderr and "1 sample in 1 shard" in done.stdout


def test_an_interrupted_job_says_how_it_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(**arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pixelmill.create.create_images", stop)
    done = CliRunner().invoke(main, ["create-images", str(tmp_path / "out")])
    assert done.exit_code == 130 and "interrupted; the same command with --exists resume continues" in done.stderr


def test_an_option_without_effect_gets_a_note(tmp_path: Path) -> None:
    create = ["create-images", str(tmp_path / "out"), "--width=8", "--height=8", "--img-per-file=5"]
    done = CliRunner().invoke(main, create)
    assert done.exit_code == 0 and "--img-per-file has no effect on image files" in done.stderr


def test_names_are_not_turned_into_pictures(tmp_path: Path) -> None:
    (tmp_path / "in" / ":smile: [bold]").mkdir(parents=True)
    (tmp_path / "in" / ":smile: [bold]" / "0.jpg").write_bytes(encoded("jpeg", seed=0))
    done = CliRunner().invoke(main, ["info", str(tmp_path / "in")])
    assert done.exit_code == 0 and "0 :smile: [bold]" in done.output


def test_a_bar_that_is_not_shown_is_never_started(monkeypatch: pytest.MonkeyPatch) -> None:
    """With rich 13.0 a disabled bar prints an empty line when it stops."""
    monkeypatch.setattr("rich.progress.Progress.start", lambda bars: pytest.fail("started"))
    with progress_bar("creating", quiet=True) as show:
        show(Progress(1, 1, 5, 10, 0), 5)
