"""bench: every kind of input, what the report holds, peers that are there and that are not. No speed is asked for."""

from __future__ import annotations

import html.parser
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from command_runner import CliRunner, Result
from dataset_cases import encoded, write
from locations import ROOT
from peers import needs, peer
from PIL import Image

import pixelmill
from pixelmill import benchmark
from pixelmill.benchmark import BenchInterrupted, BenchReport, selection, storage_speed, workload
from pixelmill.benchmark.bench_report import Absent, Measured, Scaling, Speed, Stage, Storage, Work, verdict
from pixelmill.benchmark.fastest_variant import reason_in, start_fastest
from pixelmill.benchmark.peers import PEERS, graphs, tfdata
from pixelmill.benchmark.peers.pixelmill import GRAPHS
from pixelmill.benchmark.stage_costs import stages
from pixelmill.cli import main
from pixelmill.create import create_photo_folder
from pixelmill.errors import ArgumentError, DataError, EngineError
from pixelmill.formats.sample import Sample
from pixelmill.ingest import ingest

tensorflow = peer("tensorflow")

SHORT: dict[str, Any] = {"seconds": 0.02, "rounds": 1, "batch_size": 4, "threads": 1, "size": 32, "peers": "none"}
COUNT = 6


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["bench", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bench") / "photos"
    create_photo_folder(folder, COUNT, size_mean=(60, 70), classes=2)
    return folder


def make_input(kind: str, photos: Path, folder: Path) -> Path:
    """Make a dataset of the photos, or of arrays."""
    if kind in ("list", "tfrecord", "recordio", "webdataset", "npy"):
        pixelmill.convert(photos, folder, to=kind)
    elif kind == "tfds":
        pixelmill.convert(photos, folder, to="tfrecord", keys="tfds")
    elif kind == "raw":
        ingest(photos, folder, img_size=40, num_shards=1)
    else:
        folder.mkdir()
        for number in range(COUNT):
            pixels = np.random.default_rng(number).integers(0, 256, (40 + number, 50, 3), np.uint8)
            if kind == "png":
                Image.fromarray(pixels).save(folder / f"{number}.png")
            else:
                arrays = {"rgb": pixels, "grey": pixels[:, :, 0], "real": pixels / np.float32(255)}
                arrays["volume"] = np.zeros((4, 5, 6, 7), np.float32)
                np.save(folder / f"{number}.npy", arrays[kind])
    return folder


# The format, the stages that must be there beside augment and batch, and the work.
INPUTS: dict[str, tuple[str, set[str], str]] = {
    "list": ("list", {"read", "decode", "resize"}, "resize"),
    "tfrecord": ("tfrecord", {"read", "decode", "resize"}, "resize"),
    "tfds": ("tfrecord", {"read", "decode", "resize"}, "resize"),
    "recordio": ("recordio", {"read", "decode", "resize"}, "resize"),
    "webdataset": ("webdataset", {"read", "decode", "resize"}, "resize"),
    "npy": ("npy", {"read", "decode", "resize"}, "resize"),
    "png": ("folder", {"read", "decode", "resize"}, "resize"),
    "raw": ("tfrecord", {"read", "resize"}, "resize"),
    "rgb": ("folder", {"read", "resize"}, "resize"),
    "grey": ("folder", {"read", "resize"}, "resize"),
    "real": ("folder", {"read", "resize"}, "resize"),
    "volume": ("folder", {"read"}, "read"),
}


@pytest.mark.parametrize("kind", INPUTS)
@needs("torch", "tensorflow", "nvidia.dali")
def test_every_kind_of_input_is_measured(kind: str, photos: Path, tmp_path: Path) -> None:
    peers = ["dali", "torch"] if kind in ("tfrecord", "recordio", "webdataset") else "none"
    data = make_input(kind, photos, tmp_path / "data")
    report = pixelmill.bench(data, **SHORT | {"peers": peers}, workload="resize")
    format, needed, workload = INPUTS[kind]
    assert (report.dataset.format, report.dataset.samples, report.dataset.measured) == (format, COUNT, COUNT)
    assert report.dataset.bad == 0 and report.complete
    assert report.work.workload == workload
    names = {stage.name for stage in report.stages}
    assert names - {"augment", "batch"} == needed
    check_stages(report)
    assert ("raw pixels" in report.dataset.kinds) == (kind == "raw")
    assert report.contestants[0].name == "pixelmill" and report.contestants[0].images_per_second > 0
    assert [point.threads for point in report.scaling] == [1]
    assert report.storage[-1].cache == "warm" and report.storage[-1].bytes_per_second > 0
    if peers != "none":  # DALI reads every container of records
        assert [speed.name for speed in report.contestants] == ["pixelmill", "dali"], report.absent
        assert not [note for note in report.notes if note.startswith("not the same work")]
        (absent,) = report.absent
        assert absent.name == "torch" and absent.install is None and f"not {kind}" in absent.reason


def check_stages(report: BenchReport) -> None:
    """The parts make up the whole."""
    assert sum(stage.share for stage in report.stages) == pytest.approx(1, abs=1e-3)
    total = sum(stage.milliseconds for stage in report.stages)
    for stage in report.stages:
        assert stage.milliseconds / total == pytest.approx(stage.share, abs=1e-3)


def test_json_has_the_fields_that_the_page_of_the_manual_lists(photos: Path, tmp_path: Path) -> None:
    page = tmp_path / "bench.html"
    options = ("--seconds", 0.02, "--rounds", 2, "--batch-size", 4, "--threads", 2, "--peers", "none")
    result = run(photos, *options, "--output", page, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    manual = (ROOT / "docs" / "bench.md").read_text("utf-8")
    (example,) = re.findall(r"^```json\n(.*?)^```", manual, re.M | re.S)
    assert shape_of(found) == shape_of(json.loads(example))
    assert found["schema"] == 1 and found["complete"] is True
    assert [point["threads"] for point in found["scaling"]] == [1, 2]
    assert all(len(each["rounds"]) == 2 for each in (*found["scaling"], *found["contestants"]))
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def shape_of(value: Any, *, name: str = "") -> Any:
    """Return names and structure of JSON data without its values; lists by what their items are."""
    if isinstance(value, dict) and name not in ("kinds", "versions"):
        return {key: shape_of(item, name=key) for key, item in value.items()}
    if isinstance(value, list) and name not in ("absent", "notes", "bad_samples"):
        return shape_of(value[0]) if value else None
    return None


def test_workloads_differ_in_what_they_do(photos: Path) -> None:
    found = {kind: pixelmill.bench(photos, **SHORT, workload=kind) for kind in ("val", "resize", "read")}
    assert {stage.name for stage in found["read"].stages} <= {"read", "augment", "batch"}
    assert {"decode", "resize"} <= {stage.name for stage in found["resize"].stages}
    (fused,) = [stage.about for stage in found["val"].stages if stage.name == "resize"]
    assert "same pass" in fused
    assert "shorter side to 37, center crop 32x32" in found["val"].work.title


def test_steps_are_put_together() -> None:
    steps = {
        "read": 1_000_000,
        "decode": 6_000_000,
        "image_shape": 500_000,
        "resample": 1_500_000,
        "coin_flip": 100_000,
    }
    found = stages(steps, images=10, cpu_seconds=0.01, normalized=True)
    costs = {stage.name: stage.milliseconds for stage in found}
    assert costs == {"read": 0.1, "decode": 0.65, "resize": 0.15, "augment": 0.01, "batch": 0.09}
    assert [stage.share for stage in found] == [0.1, 0.65, 0.15, 0.01, 0.09]
    less = stages(steps, images=10, cpu_seconds=0.001, normalized=True)  # a clock that is too coarse
    assert "batch" not in {stage.name for stage in less} and sum(s.share for s in less) == pytest.approx(1, abs=1e-4)


@needs("torch", "tensorflow", "nvidia.dali")
def test_peers_that_are_installed_do_the_same_work(photos: Path) -> None:
    report = pixelmill.bench(photos, **SHORT | {"peers": "all"}, workload="val")
    assert [speed.name for speed in report.contestants] == ["pixelmill", *PEERS], report.absent
    assert report.absent == ()
    assert not [note for note in report.notes if note.startswith("not the same work")]
    for speed in report.contestants:
        assert (speed.ratio is None) == (speed.name == "pixelmill")
        assert speed.version and speed.peak_memory > 1e6 and speed.first_batch_seconds > 0


@needs("torch", "tensorflow", "nvidia.dali")
def test_peers_that_are_missing_are_listed_with_what_installs_them(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)  # what an import that fails looks like
    broken = tmp_path / "modules" / "tensorflow"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("raise ImportError('libsomething.so is missing')\n", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(broken.parent))
    report = pixelmill.bench(photos, **SHORT | {"peers": ["tf", "torch"]})
    assert [speed.name for speed in report.contestants] == ["pixelmill"]
    reasons = {absent.name: (absent.reason, absent.install) for absent in report.absent}
    assert reasons["torch"] == ("torch is not installed", "pip install 'pixelmill[bench]'")
    assert reasons["tf"] == ("libsomething.so is missing", "pip install 'pixelmill[bench]'")


def test_the_line_that_says_what_happened_is_found() -> None:
    traceback = "x has ended:\nTraceback (most recent call last):\n  File 'a.py'\nValueError: no\n"
    assert reason_in(traceback) == "ValueError: no"
    dali = "RuntimeError: Critical error in pipeline:\n\nencountered:\n\n[a.cc:1] cannot\nIt is no longer valid.\n"
    assert reason_in(dali) == "[a.cc:1] cannot"
    assert reason_in("x has ended:\nKilled\n") == "Killed" and reason_in("") == "it has ended"


def test_a_variant_that_fails_leaves_the_others(photos: Path) -> None:
    source = workload.Source([str(path) for path in photos.rglob("*.jpg")])
    good = workload.PeerTask("pixelmill", "", "resize", source, batch=2, threads=1, seed=1, size=32)
    bad = replace(good, peer="nobody")
    with ExitStack() as stack:
        assert start_fastest([bad, good], seconds=0.02, stack=stack).job is good
        with pytest.raises(EngineError, match="nobody has ended:"):
            start_fastest([bad], seconds=0.02, stack=stack)


def test_bad_samples_are_left_out_and_told(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    shutil.copytree(photos, folder)
    first, second, *_ = sorted(folder.rglob("*.jpg"))
    first.write_bytes(b"junk")
    second.write_bytes(second.read_bytes()[:700])
    result = run(folder, "--seconds", 0.02, "--rounds", 1, "--threads", 1, "--peers", "none")
    assert result.exit_code == 3
    assert "but for 2 bad samples" in result.output
    assert (
        f'not_an_image: not an image: 4 bytes that begin with 6a 75 6e 6b "junk" (sample 0, {first})' in result.output
    )
    assert str(second) in result.output


# A byte of the first record, and whether an index of the file can be written all the same: DALI checks no checksums.
@pytest.mark.parametrize(("byte", "indexed"), [(200, True), (9, False)])
@needs("torch", "tensorflow", "nvidia.dali")
def test_a_damaged_record_is_told(byte: int, indexed: bool, photos: Path, tmp_path: Path) -> None:
    folder = make_input("tfrecord", photos, tmp_path / "records")
    (path,) = folder.glob("*.tfrecord")
    data = bytearray(path.read_bytes())
    data[byte] ^= 1
    path.write_bytes(data)
    report = pixelmill.bench(path, **SHORT | {"peers": ["dali"]})
    assert report.dataset.bad == 1 and str(path) in report.dataset.bad_samples[0]
    assert len(report.contestants) == 1 + indexed
    assert [absent.reason.partition(":")[0] for absent in report.absent] == (
        [] if indexed else ["it needs an index, which cannot be written"]
    )


def test_nothing_but_bad_samples_is_an_error(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jpg").write_bytes(b"junk")
    with pytest.raises(DataError, match=r"no sample of .* can be used; the first:\n.*junk"):
        pixelmill.bench(tmp_path, **SHORT)


def test_arguments_that_cannot_be_meant_are_refused(photos: Path) -> None:
    for wrong in (
        {"batch_size": 0},
        {"seconds": 0},
        {"workload": "rest"},
        {"peers": ["dali", "dail"]},
        {"samples": -1},
    ):
        (name,) = wrong
        with pytest.raises(ArgumentError, match=f"bench: {name} must be"):
            pixelmill.bench(photos, **SHORT | wrong)
    with pytest.raises(ArgumentError, match="s3://bucket/x is remote"):
        pixelmill.bench("s3://bucket/x", **SHORT)
    assert run(photos, "--peers", "dail").exit_code == 2
    assert "there is no folder" in run(photos, "--output", "/nowhere/x.html").output


def test_a_gpu_that_is_not_there_is_told(photos: Path) -> None:
    with pytest.raises(EngineError, match="bench: no NVIDIA GPU can be used"):
        pixelmill.bench(photos, **SHORT, mode="gpu")


@pytest.mark.parametrize("kind", ["train", "val", "resize"])
def test_the_graphs_for_a_gpu_can_be_given_to_dali(kind: workload.Kind, photos: Path) -> None:
    source = workload.Source([str(path) for path in photos.rglob("*.jpg")])
    job = workload.PeerTask("pixelmill", "", kind, source, batch=2, threads=1, seed=1, size=32, device="gpu")
    pipe = graphs.pipeline(pixelmill, GRAPHS[kind], job, device_id=0)
    assert type(pipe.dali_pipeline(0)).__module__ == "nvidia.dali.pipeline"


@pytest.mark.parametrize(("shape", "channels"), [([8, 8, 3], 3), ([8, 8, 1], 1), ([8, 8], 1)])
def test_every_channel_is_normalized_by_its_own_numbers(shape: list[int], channels: int) -> None:
    source = workload.Source(["a.npy"], content="array", shape=shape)
    job = workload.PeerTask("pillow", "", "train", source, batch=2, threads=1, seed=1)
    assert job.mean == pytest.approx([123.675, 116.28, 103.53] if channels == 3 else [114.495])
    assert job.std == pytest.approx([58.395, 57.12, 57.375] if channels == 3 else [57.63])


def test_the_dali_engine_can_be_measured(photos: Path) -> None:
    report = pixelmill.bench(photos, **SHORT, mode="dali")
    assert report.work.mode == "dali" and report.stages == ()
    assert report.contestants[0].images_per_second > 0


@pytest.mark.parametrize("when", ["reading alone", "stage by stage", "starting pixelmill", "taking turns"])
def test_what_was_measured_before_an_interrupt_is_given(when: str, photos: Path) -> None:
    shares = [0.0]

    def interrupt(what: str, share: float) -> None:
        assert shares[-1] <= share <= 1
        shares.append(share)
        if what == when:
            raise KeyboardInterrupt

    with pytest.raises(BenchInterrupted) as caught:
        pixelmill.bench(photos, **SHORT, on_progress=interrupt)
    report = caught.value.report
    assert report is not None and not report.complete
    assert bool(report.storage) == (when != "reading alone")
    assert bool(report.stages) == (when in ("starting pixelmill", "taking turns"))
    assert report.contestants == () and report.verdict == ""
    assert "Interrupted" in report.html()


def test_ctrl_c_ends_with_130_and_leaves_no_process(photos: Path) -> None:
    options = ["--peers", "none", "--seconds", "0.2", "--rounds", "100000", "--threads", "1"]
    command = [sys.executable, "-m", "pixelmill", "bench", str(photos), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    workers: list[str] = []
    while not workers and process.poll() is None:
        workers = children.read_text("ascii").split()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in said
    assert workers and not [pid for pid in workers if Path(f"/proc/{pid}").exists()]


class _Tags(html.parser.HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not [name for name, _ in attrs if name.startswith("on") or name in ("src", "href")]

    def handle_data(self, data: str) -> None:
        self.text += data


HOSTILE = "<script>alert(1)</script>\"'&\x1b[31m\udcff\u202e"


def a_report(name: str = "photos") -> BenchReport:
    rounds = (900.0, 1000.0, 1100.0)
    own = Speed("pixelmill", "pixelmill", "", "0.1", 1000, rounds, 0.2, None, 1.9, 10**8, 0.3)
    return BenchReport(
        Measured(name, "folder", 10, 10, 1e5, {"jpg": 10}, 1, (f"bad {name}",)),
        Work("train", "random window", 64, 224, 2, 5.0, 3, "cpu"),
        {"processor": "P", "cores": 2, "memory_gigabytes": 1, "system": "S", "versions": {"python": "3"}, "date": "D",
         "load_before": 0.1},
        (Storage("cold", 4000.0, 4 * 10**8, 10, 1.0), Storage("warm", 9000.0, 9 * 10**8, 10, 1.0)),
        (Stage("read", "bytes", 0.1, 0.1), Stage("decode", "pixels", 0.9, 0.9)),
        (Scaling(1, 520, (520.0,)), Scaling(2, 1000, rounds)),
        (own, replace(own, name="dali", title=name, variant=name, ratio=2.0)),
        (Absent("tf", "tf.data", f"failed: {name}", name),),
        notes=(f"note {name}",),
    )  # fmt: skip


def test_nothing_in_the_page_comes_alive() -> None:
    text = a_report(HOSTILE).html()
    text.encode("utf-8")
    tags = _Tags()
    tags.feed(text)
    assert "script" not in tags.tags and {"svg", "polyline", "rect", "table"} <= set(tags.tags)
    assert "<script>alert(1)</script>\"'&\\x1b[31m\\xff\\u202e" in tags.text
    assert not re.search(r"[\x00-\x09\x0b-\x1f\ud800-\udfff\u202e]", text)
    assert not re.search(r"https?:|url\(|@import", text)


def test_a_hostile_folder_is_shown_harmlessly(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "<b>&\x1b[31m"
    shutil.copytree(photos, folder)
    result = run(
        folder, "--seconds", 0.02, "--rounds", 1, "--threads", 1, "--peers", "none", "--output", tmp_path / "o.html"
    )
    assert result.exit_code == 0, result.output
    assert "\x1b" not in result.output and "<b>&\\x1b[31m" in result.output
    assert "&lt;b&gt;&amp;\\x1b[31m" in (tmp_path / "o.html").read_text("utf-8")


def test_the_verdict_names_what_limits() -> None:
    report = a_report()
    assert verdict(report) == (
        "Decoding takes 90% of the processor time: the 2 processors are the limit, 2 threads are 1.9 times as fast as "
        "one; storage could feed 4,000 images/s."
    )
    more = replace(report, machine={**report.machine, "cores": 8})
    assert "more threads would help, 2 of 8 processors are used" in verdict(more)
    slow = replace(report, storage=(replace(report.storage[0], samples_per_second=300.0), report.storage[1]))
    assert verdict(slow).startswith("Storage limits the first epoch: the device delivers 300 images/s")
    busy = replace(report, contestants=(replace(report.contestants[0], cpu_milliseconds=0.9),))
    assert "only 0.9 of 2 processors worked for it" in verdict(busy)
    flat = replace(report, scaling=(Scaling(1, 950, (950.0,)), report.scaling[1]))
    assert "2 threads are only 1.1 times as fast as one" in verdict(flat)
    assert verdict(replace(report, contestants=())) == ""


def test_large_datasets_are_thinned_out_evenly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(20):
        (tmp_path / f"{number:02d}.jpg").write_bytes(encoded("jpeg", seed=number))
    found = selection.select(tmp_path, samples=10)
    assert [Path(path).stem for path in sorted(found.source.files)] == [f"{number:02d}" for number in range(0, 20, 2)]
    assert found.samples == 20 and len(found.ranges) == 10
    monkeypatch.setattr(selection, "MOST_BYTES", 5 * found.ranges[0][2])
    assert len(selection.select(tmp_path, samples=20).ranges) in (4, 5, 6)


def test_images_and_arrays_in_one_folder_are_not_mixed(photos: Path, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    shutil.copytree(photos, folder)
    np.save(folder / "x.npy", np.zeros((8, 8, 3), np.uint8))
    found = selection.select(folder, samples=100)
    assert len(found.source.files) == COUNT and found.source.content == "jpeg"
    assert found.notes == ["excluded: 1 npy file, in another format than the rest"]


def test_all_bytes_are_read_and_the_cache_is_told(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = selection.select(photos, samples=100)
    size = sum(path.stat().st_size for path in photos.rglob("*.jpg"))
    assert sum(length for _, _, length in found.ranges) == size
    clock = itertools.count(0, 0.01)
    monkeypatch.setattr(storage_speed, "time", SimpleNamespace(perf_counter=lambda: next(clock)))
    monkeypatch.setattr(storage_speed, "_in_memory", lambda entry: False)
    (cold, warm), note = storage_speed.read_storage(found.ranges, threads=2, seconds=0.2)
    assert (cold.cache, warm.cache, note) == ("cold", "warm", None)
    assert cold.samples == COUNT and cold.bytes_per_second * cold.seconds == pytest.approx(size, rel=0.05)
    monkeypatch.setattr(storage_speed, "_in_memory", lambda entry: True)
    (only,), note = storage_speed.read_storage(found.ranges, threads=1, seconds=0.05)
    assert only.cache == "warm" and note == storage_speed.NOT_COLD


def test_several_record_files_are_one_dataset(tmp_path: Path) -> None:
    samples = [
        Sample(str(number), encoded("jpeg", seed=number, size=(40, 50)), "jpg", (number,)) for number in range(4)
    ]
    names = [str(next(write(tmp_path / name, "tfrecord", samples).glob("*.tfrecord"))) for name in ("a", "b")]
    report = pixelmill.bench(names, **SHORT)
    assert report.dataset.samples == 8


def test_the_names_are_offered_without_being_imported() -> None:
    program = "import sys, pixelmill.benchmark.worker; print('numpy' in sys.modules or 'rich' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"
    assert pixelmill.bench is benchmark.bench


def test_colors_are_normalized_by_the_statistics_of_imagenet() -> None:
    """As published programs write them for pixels from 0 to 255."""
    np.testing.assert_allclose(workload.MEAN, [123.675, 116.28, 103.53])
    np.testing.assert_allclose(workload.STD, [58.395, 57.12, 57.375])


def test_files_stay_open_up_to_a_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    paths = [str(tmp_path / name) for name in "abcd"]
    for path in paths:
        Path(path).touch()
    monkeypatch.setattr(storage_speed, "_KEPT_OPEN", 3)
    opened: dict[str, int] = {}
    try:
        for path in paths[:3] * 2:
            storage_speed._kept(opened, path)
        assert list(opened) == paths[:3]  # in the order in which they were opened, so none was opened again
        storage_speed._kept(opened, paths[3])
        assert list(opened) == paths[1:]
    finally:
        for descriptor in opened.values():
            os.close(descriptor)


def test_tf_data_gets_the_threads_of_the_task_and_no_others() -> None:
    options = tfdata._options(tensorflow, SimpleNamespace(threads=3, random=False))
    assert options.threading.private_threadpool_size == 3
    assert options.threading.max_intra_op_parallelism == 1
    assert options.autotune.enabled is False and options.deterministic is True
