"""Typical mistakes at the command line: what was typed, how it ends, and what the message must contain.

`tests/cli/test_command_mistakes.py` runs them; `scripts/write_mistakes.py` writes docs/mistakes.md from the same runs.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from command_runner import CliRunner
from dataset_cases import encoded

from pixelmill.cli import main
from pixelmill.cli.exit_codes import MEANINGS


@dataclass(frozen=True)
class Mistake:
    """One mistake.

    Attributes:
        command: What was typed after `pixelmill`.
        code: The exit code.
        says: What the message must contain: the thing, and the next step.
        about: What is wrong, if the command does not show it.
        before: Commands that led to it.
    """

    command: str
    code: int
    says: tuple[str, ...]
    about: str = ""
    before: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a command ended; paths are relative to the folder that it ran in."""

    code: int
    output: str
    errors: str


SECTIONS: dict[str, tuple[Mistake, ...]] = {
    "Names of commands and options": (
        Mistake("convrt photos out", 2, ("'convrt'", "did you mean 'pixelmill convert'?")),
        Mistake("validate photos", 2, ("'validate'", "did you mean 'pixelmill verify'?")),
        Mistake("create out", 2, ("'create'", "did you mean 'pixelmill create-images'?")),
        Mistake("resize photos", 2, ("'resize'", "convert SRC DST --to FORMAT --resize SIZE")),
        Mistake("recipe lst", 2, ("'lst'", "did you mean 'pixelmill recipe list'?")),
        Mistake("xyzzy", 2, ("'xyzzy'", "there are augment, bench, convert")),
        Mistake("convert photos out --to tfrecord --quailty 90", 2, ("--quailty", "--quality")),
        Mistake("info photos --part 0/2", 2, ("--part", "pixelmill info --help")),
        Mistake("convert photos out", 2, ("Missing --to", "one of folder, list, tfrecord")),
        Mistake("convert --to tfrecord", 2, ("Missing SRC", "pixelmill convert SRC... DST")),
        Mistake("convert photos --to tfrecord", 2, ("Missing DST", "pixelmill convert SRC... DST")),
        Mistake("create-images --count 3", 2, ("Missing DST", "pixelmill create-images DST")),
        Mistake("ingest photos out more", 2, ("3 names", "pixelmill ingest SRC DST")),
        Mistake("convert photos out --to folder -v -q", 2, ("--verbose and --quiet exclude each other",)),
    ),
    "Values of options": (
        Mistake("convert photos out --to tfrecrd", 2, ("'tfrecrd'", "did you mean 'tfrecord'?")),
        Mistake("convert photos out --to folder --exists overwite", 2, ("'overwite'", "did you mean 'overwrite'?")),
        Mistake("convert photos out --to folder --on-error ignore", 2, ("'ignore'", "'fail', 'skip', 'quarantine'")),
        Mistake("convert photos out --to folder --quality 101", 2, ("--quality", "must be from 1 to 100, got 101")),
        Mistake("convert photos out --to folder --quality best", 2, ("--quality", "'best' is not a whole number")),
        Mistake(
            "convert photos out --to folder --part 3/3",
            2,
            ("'3/3'", "the last of 3 is 2/3"),
            "Parts are counted from 0",
        ),
        Mistake("convert photos out --to folder --part 1of3", 2, ("'1of3'", "such as 0/8")),
        Mistake("convert photos out --to folder --shard-size 10XB", 2, ("'10XB'", "such as 256MB, 1GiB or 500000")),
        Mistake("convert photos out --to folder --resize 224x", 2, ("'224x'", "such as 224x256")),
        Mistake("convert photos out --to folder --split train", 2, ("'train'", "NAME=FRACTION, such as train=0.9")),
        Mistake("convert photos out --to folder --split a=0.9,b=0.2", 2, ("add up to 1.1", "more than 1")),
        Mistake(
            "convert photos out --to folder --samples-per-shard 3 --num-shards 2",
            1,
            ("samples_per_shard and num_shards", "use one of them"),
        ),
        Mistake(
            "convert photos out --to tfrecord --keys raw --format jpeg", 1, ("'jpeg'", "raw keys hold pixels", "npy")
        ),
        Mistake("create-images out --preset imagnet", 2, ("'imagnet'", "did you mean 'imagenet'?")),
        Mistake("create-images out --bytes 100KBB", 2, ("'100KBB'", "such as 256MB")),
        Mistake("create-images out --count 0", 1, ("count", "at least 1", "got 0")),
        Mistake("create-images out --width 0", 1, ("width is 0", "from 1 to")),
        Mistake("create-images out --image-format gif", 1, ("'gif'", "jpg, jpeg, png, bmp")),
        Mistake("create-images out --masks", 1, ("masks need --content shapes", "got 'noise'")),
        Mistake("create-images out --name a/b", 1, ("'a/b'", "part of a file name")),
        Mistake("create-images out --total 1MB --count 3 --bytes 10KB", 1, ("total is count times bytes", "set two")),
        Mistake("create-images out --total 2 --count 3", 1, ("2 bytes is too little for 3 images",)),
        Mistake("bench photos --peers pytorch", 2, ("'pytorch'", "dali, tf, torch")),
        Mistake("bench photos -o report.pdf", 2, ("HTML page, not .pdf", "report.html")),
    ),
    "What is read": (
        Mistake("info nothere", 1, ("No such file or directory", "nothere")),
        Mistake("info phtos", 1, ("No such file or directory: phtos", "did you mean photos?")),
        Mistake("info 'none-*.tfrecord'", 1, ("none-*.tfrecord",)),
        Mistake("convert empty out --to tfrecord", 1, ("empty",), "There are no images in the folder"),
        Mistake("info notes.txt", 3, ("no sample of notes.txt can be used",), "The file is no list of images"),
        Mistake("convert photos out --to folder --from tfrecord", 1, ("photos is", "omit the format to read it")),
        Mistake("index photos", 1, ("photos", "needs no index file")),
        Mistake("job status photos", 1, ("photos",), "No job has written this folder"),
        Mistake("segmentation photos out", 1, ("photos has no folder Images",)),
        Mistake("segmentation unpaired out", 1, ("b.png has no partner", "--on-error skip")),
        Mistake(
            "ingest flat out",
            1,
            ("flat has no sub-folders with images", "one for each class"),
            "The images are not in class folders",
        ),
        Mistake("ingest photos out", 1, ("6 images cannot be divided into 10 shards", "num_shards to 6 or less")),
        Mistake("ingest photos out --labels nothere.csv", 1, ("nothere.csv",)),
        Mistake("create-tfrecords nothere out", 1, ("nothere is not a folder", "use the one that contains the images")),
        Mistake("preview photos --samples 99", 1, ("there is no sample 99", "which has 6")),
        Mistake("preview photos --samples 3-x", 1, ("'3-x'", "such as 100-120")),
        Mistake("preview photos --class dgo", 1, ("dgo", "photos")),
    ),
    "Where it is written": (
        Mistake("convert photos photos --to tfrecord", 1, ("photos is the dataset that is read", "choose a folder")),
        Mistake("convert photos photos/records --to tfrecord", 1, ("is inside of the dataset", "choose a folder")),
        Mistake("convert photos . --to tfrecord", 1, ("contains the dataset", "choose a folder outside")),
        Mistake("augment done/data.tfrecord done", 1, ("the folder of done/data.tfrecord", "--exists add")),
        Mistake("convert photos foreign --to tfrecord", 5, ("is not empty (vacation.jpg)", "choose a new folder")),
        Mistake("convert photos foreign --to folder", 5, ("is not empty (vacation.jpg)", "choose a new folder")),
        Mistake(
            "convert photos notes.txt --to tfrecord",
            1,
            ("notes.txt is a file", "must be a folder"),
            "The destination is a file",
        ),
        Mistake("convert photos done --to tfrecord", 5, ("done holds the finished output", "--exists overwrite")),
        Mistake(
            "convert photos done --to tfrecord --shuffle --exists resume",
            5,
            ("another job", "options.shuffle: false there, true now", "--exists overwrite"),
        ),
        Mistake(
            "convert photos out --to tfrecord --exists overwrite --part 0/2",
            1,
            ("--exists overwrite cannot be used", "would remove the others"),
        ),
        Mistake("convert photos out --to folder --exists add", 1, ("--exists add is for containers", "tfrecord")),
        Mistake("create-tfrecords photos wrapped", 5, ("train_0 exists", "--exists overwrite")),
        Mistake("preview photos -o look.pdf", 1, ("look.pdf", "must end in .png, .html")),
        Mistake("preview photos -o there.png", 5, ("there.png exists", "--exists overwrite")),
        Mistake(
            "preview photos --recipe gentle --variants 40 --size 2048 -o look.png",
            1,
            ("are too many for one preview", "--size 738 fits"),
        ),
        Mistake("convert photos out --to folder --log-file nofolder/job.log", 1, ("--log-file", "nofolder/job.log")),
    ),
    "Recipes": (
        Mistake("augment photos out --recipe clasification", 1, ("clasification", "did you mean 'classification'?")),
        Mistake("recipe show nothere.yaml", 1, ("there is no file nothere.yaml", "built-in: cityscapes, classif")),
        Mistake(
            "recipe validate chance.yaml",
            1,
            ("horizontal is 0 or 1, got 0.5", "horizontal: {coin: 0.5}"),
            "The recipe has `flip: {horizontal: 0.5}`",
        ),
        Mistake(
            "recipe validate misspelled.yaml",
            1,
            ("there is no step 'rotat'", "did you mean 'rotate'?"),
            "The recipe has a step `rotat`",
        ),
        Mistake("recipe validate broken.yaml", 1, ("broken.yaml", "line 2"), "The recipe is not YAML"),
        Mistake("augment photos out --recipe mine.py:nothere", 1, ("mine.py has no function 'nothere'",)),
        Mistake("augment photos out --prefix a/b", 1, ("prefix", "'a/b'")),
        Mistake("augment photos out --prefix aug_", 1, ("prefix names record files", "'folder'")),
    ),
    "Bad samples": (
        Mistake(
            "convert broken out --to tfrecord --max-side 16",
            1,
            ("broken/a/z.jpg", "--exists resume with --on-error skip continues"),
            "The file z.jpg is not an image",
        ),
        Mistake(
            "convert broken begun --to tfrecord --max-side 16 --on-error skip",
            5,
            ("begun holds this job, unfinished", "--exists resume continues it"),
            "`--exists resume` was forgotten",
            ("convert broken begun --to tfrecord --max-side 16",),
        ),
        Mistake(
            "convert broken skipped --to tfrecord --max-side 16 --exists resume",
            5,
            ("holds this job with 1 sample skipped", "--on-error skip accepts that"),
            "The earlier run has skipped samples",
            ("convert broken skipped --to tfrecord --max-side 16 --on-error skip",),
        ),
        Mistake(
            "convert broken limited --to tfrecord --max-side 16 --on-error skip --max-errors 0",
            1,
            ("more than 0 samples cannot be used", "--exists resume with --max-errors 10"),
        ),
        Mistake("convert broken left --to tfrecord --max-side 16 --on-error skip", 3, ("1 sample could not be used",)),
        Mistake("info allbad", 3, ("no sample of allbad can be used",)),
        Mistake("verify broken", 4, ("broken: 1 problem", "z.jpg")),
    ),
}

MISTAKES = tuple(mistake for section in SECTIONS.values() for mistake in section)


def prepare(root: Path) -> None:
    """Write what the mistakes are made with into an empty folder, which is the current one."""
    for number in range(6):
        _put(root / "photos" / ("cat" if number % 2 else "dog") / f"{number}.jpg", encoded("jpeg", seed=number))
    _put(root / "broken" / "a" / "a.jpg", encoded("jpeg", seed=1))
    _put(root / "broken" / "a" / "z.jpg", b"this is a text, not an image")
    for name in ("a", "b"):
        _put(root / "allbad" / "x" / f"{name}.jpg", b"not an image either")
    _put(root / "flat" / "a.jpg", encoded("jpeg", seed=1))
    _put(root / "foreign" / "vacation.jpg", encoded("jpeg", seed=2))
    _put(root / "notes.txt", b"To do: learn about containers.\n")
    _put(root / "there.png", b"")
    _put(root / "unpaired" / "Images" / "a.png", encoded("png", seed=1))
    _put(root / "unpaired" / "Images" / "b.png", encoded("png", seed=1))
    _put(root / "unpaired" / "Masks" / "a.png", encoded("png", seed=1))
    (root / "empty").mkdir()
    _put(root / "chance.yaml", b"steps:\n  - flip: {horizontal: 0.5}\n")
    _put(root / "misspelled.yaml", b"steps:\n  - rotat: {angle: 10}\n")
    _put(root / "broken.yaml", b"steps:\n  - flip: {horizontal: [}\n")
    _put(root / "mine.py", b"def recipe(scene):\n    return scene\n")
    for command in ("convert photos done --to tfrecord", "create-tfrecords photos wrapped"):
        outcome = run(command, root)
        assert outcome.code == 0, outcome


def _put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def run(command: str, root: Path) -> Outcome:
    """Run a command in this process; `root` is the current folder."""
    done = CliRunner().invoke(main, shlex.split(command), prog_name="pixelmill")
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    output, errors = (text.replace(f"{root}/", "").replace(str(root), ".") for text in (done.stdout, done.stderr))
    return Outcome(done.exit_code, output, errors)


def page(root: Path) -> str:
    """Make all mistakes in a prepared folder, which is the current one, and return docs/mistakes.md."""
    codes = "\n".join(f"| {code} | {meaning} |" for code, meaning in MEANINGS.items())
    parts = [_INTRODUCTION.format(codes=codes)]
    for title, mistakes in SECTIONS.items():
        parts.append(f"## {title}\n")
        for mistake in mistakes:
            for command in mistake.before:
                run(command, root)
            parts.append(_entry(mistake, run(mistake.command, root)))
    return "\n".join(parts)


def _entry(mistake: Mistake, found: Outcome) -> str:
    lines = [line.rstrip() for line in (found.output + found.errors).splitlines()]
    shown = [line for line in lines if not _TIMED.search(line)]
    if len(shown) > _MOST_LINES:
        shown = [*shown[:2], "...", *shown[-2:]]
    about = f"\n{mistake.about}:\n" if mistake.about else ""
    code = "" if found.code == 1 else f"exit code {found.code}"
    shell = [*(f"$ pixelmill {command}   # ends with an error or skips samples" for command in mistake.before)]
    shell += [f"$ pixelmill {mistake.command}" + (f"   # {code}" if code else ""), *shown]
    return "\n".join([about.strip("\n"), "", "```console", *shell, "```", ""]).lstrip("\n")


_MOST_LINES = 8
_TIMED = re.compile(r"\d s\b|/s")  # lines with measured times
_INTRODUCTION = """# Mistakes, and what the commands say

Each of these was run for this page, in a folder with a small dataset `photos`, and a test runs them again. Errors go to
standard error, in one line that names the thing and the next step; a line that begins with two blanks belongs to the
one before it. Where no exit code is shown, it is 1.

## Exit codes

| code | meaning |
|---|---|
{codes}
"""
