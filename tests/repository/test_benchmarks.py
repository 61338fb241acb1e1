"""The benchmark programs run and say what they should. No speed is asked for."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from locations import ROOT
from peers import needs
from reference import Entry
from reference_effects import effects

import pixelmill
from pixelmill import types
from pixelmill.create import create_photo_folder
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import operators_of
from pixelmill.operators import public_operators
from pixelmill.operators.arithmetic import OPERATIONS

BENCHMARKS = ROOT / "benchmarks"


def run(script: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BENCHMARKS / script), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=280)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a very short run."""
    folder = tmp_path_factory.mktemp("bench")
    create_photo_folder(folder / "photos", 8, size_mean=(60, 70), classes=2)
    options = ("--rounds", "1", "--seconds", "0.3", "--starts", "1", "--peers", "pixelmill", "pillow")
    done = run("run.py", "train", "--small", folder / "photos", *options, "--json", folder / "results" / "one.json")
    assert done.returncode == 0, done.stderr
    assert "not the same work" not in done.stdout
    assert "left out" not in done.stdout
    return folder / "results"


def test_results_have_their_fields(results: Path) -> None:
    result: dict[str, Any] = json.loads((results / "one.json").read_text("utf-8"))
    assert {"date", "processor", "cores", "commit", "versions", "load_before", "load_after"} <= result["machine"].keys()
    assert result["options"] == {"threads": 2, "rounds": 1, "seconds": 0.3, "starts": 1}
    train = result["workloads"]["train"]
    assert train["data"]["source"] == "photographs"
    assert train["data"]["files"] == 8
    assert [contestant["peer"] for contestant in train["contestants"]] == ["pixelmill", "pillow"]
    for contestant in train["contestants"]:
        assert len(contestant["rates"]) == len(contestant["cpu_milliseconds"]) == 1
        assert contestant["best"] >= contestant["median"] > 0
        assert contestant["peak_memory"] > 1e6
        assert contestant["first_batch_seconds"][0] > 0
        assert contestant["batch"]["shape"] == [64, 3, 224, 224]
        assert contestant["batch"]["dtype"] == "float32"
    assert [target["name"] for target in train["targets"]] == ["first_batch_seconds"]


def test_records_can_be_measured(results: Path) -> None:
    options = ("--rounds", "1", "--seconds", "0.2", "--starts", "1", "--peers", "pixelmill")
    small, target = results.parent / "photos", results.parent / "records.json"
    done = run("run.py", "tfrecord_train", "--small", small, *options, "--json", target)
    assert done.returncode == 0, done.stderr
    (contestant,) = json.loads(target.read_text("utf-8"))["workloads"]["tfrecord_train"]["contestants"]
    assert contestant["batch"]["shape"] == [64, 3, 224, 224]


def test_report_writes_results_between_the_markers(results: Path, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    shutil.copy(ROOT / "docs" / "performance.md", page)
    before = page.read_text("utf-8")
    assert run("report.py", "--page", page, "--results", results).returncode == 0
    after = page.read_text("utf-8")
    assert after != before
    assert "### train, photographs" in after
    assert "| DataLoader + Pillow |" in after
    assert run("report.py", "--page", page, "--results", results, "--check").returncode == 0


def test_page_shows_the_results_of_the_repository() -> None:
    done = run("report.py", "--check")
    assert done.returncode == 0, done.stderr


def test_no_operator_was_measured_slower_than_dalis() -> None:
    newest = max((BENCHMARKS / "results").glob("*-operators.json"))
    rows = json.loads(newest.read_text("utf-8"))["operators"]
    compared = [(row["dali"] / row["pixelmill"], row["name"]) for row in rows if row["dali"]]
    assert len(compared) > 300
    assert min(compared)[0] > 1, min(compared)


def test_unknown_workload_is_named() -> None:
    done = run("run.py", "trian")
    assert done.returncode == 2
    assert "'trian'; there are: train, " in done.stderr


def test_callgrind_profile_is_read(tmp_path: Path) -> None:
    spec = importlib.util.spec_from_file_location("callgrind", BENCHMARKS / "callgrind.py")
    assert spec is not None and spec.loader is not None
    callgrind = importlib.util.module_from_spec(spec)
    sys.modules["callgrind"] = callgrind
    spec.loader.exec_module(callgrind)
    text = "events: Ir\n\nfn=outer\n10 5\n11 7\ncfn=inner(int)\ncalls=3 20\n12 300\n13 1\n\nfn=inner(int)\n20 300\n"
    (tmp_path / "profile").write_text(text, "utf-8")
    profile = callgrind.read(tmp_path / "profile")
    assert profile.own == {"outer": 13, "inner(int)": 300}
    assert profile.total == {"inner(int)": 300}
    assert profile.calls == {"inner(int)": 3}


def test_creating_is_measured(tmp_path: Path) -> None:
    words = ("png", "--count", "2", "--rounds", "1", "--folder", tmp_path / "images", "--json", tmp_path / "r.json")
    done = run("create.py", *words)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "r.json").read_text("utf-8"))["png"]
    assert set(result["images_per_second"]) == {"pixelmill", "numpy_pillow"}
    assert result["file_bytes"]["pixelmill"] <= result["file_bytes"]["numpy_pillow"]


def test_photo_statistics_and_distinctness_are_measured(tmp_path: Path) -> None:
    create_photo_folder(tmp_path / "photos", 2, size_mean=(400, 470), spread=0)
    done = run("photo_statistics.py", "--photos", tmp_path / "photos", "--count", "2")
    assert done.stdout.count("\n| ") == 9, done.stderr
    assert "200 images of 2 seeds, no two equal" in run("find_duplicates.py", "--count", "100").stdout


# DALI has nothing like these on a CPU. Effects of recipes are measured by benchmarks/augmentation_transforms.py.
ONLY_HERE = {
    *("decoders.mask", "decoders.raw", "encoders.image", "jitter", "readers.dataset", "readers.pack"),
    *effects(Entry),
}


def test_every_operator_of_dali_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    groups, case = importlib.import_module("cases").GROUPS, importlib.import_module("cases.case")
    measured = set()
    for one in (one for cases in groups.values() for one in cases):
        with pixelmill.Pipeline(batch_size=4, num_threads=1, device_id=None):
            given = types.Constant(case.data(one.kinds[0]), layout=case.LAYOUTS.get(one.kinds[0], "HWC"))
            measured |= {node.spec.name for node in operators_of([one.graph(pixelmill, as_node(given))])}
    public = {name for name in public_operators() if name.removeprefix("experimental.") not in measured}
    assert public - measured - ONLY_HERE == set(), "add a case to benchmarks/cases"
    assert set(OPERATIONS) - measured == set(), "add a case to benchmarks/cases/arithmetic.py"


@pytest.mark.parametrize("job", ["augment", "ingest", "create"])
def test_jobs_can_be_watched(job: str, tmp_path: Path) -> None:
    done = run("soak.py", "--job", job, "--images", "60", "--workers", "1", "--folder", tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["job"], said["images"]) == (job, 60)
    assert len(said["mb_at_quarters"]) == 4 and 10 < min(said["mb_at_quarters"]) <= said["mb_most"]


def soak(tmp_path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Train for 4 epochs with 12 disturbances."""
    return run("soak.py", "--seconds", "0", "--samples", "16000", "--files", "4000", "--folder", tmp_path, *arguments)


def test_training_is_disturbed_and_watched(tmp_path: Path) -> None:
    done = soak(tmp_path)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert (said["epochs"], said["samples"], said["named"]) == (4, 16000, 160)
    assert said["stops"] == said["forks"] == said["resizes"] == said["interrupts"] == 3


@pytest.mark.parametrize(("leak", "found"), [("file", "open files: ["), ("thread", "threads beside the pool: [")])
def test_a_leak_ends_a_long_run_with_an_error(leak: str, found: str, tmp_path: Path) -> None:
    done = soak(tmp_path, "--leak", leak)
    assert done.returncode == 1
    assert done.stderr.startswith(found)


@pytest.mark.parametrize(
    ("column", "per_epoch", "found"),
    [
        ("private_mb", 0.02, "private memory grew by"),
        ("heap_mb", 0.01, "the heap grew by"),  # one byte for each sample
        ("blocks", 2.0, "Python holds"),
        ("threads", 0.01, "threads beside the pool"),
        ("files", 0.01, "open files"),
    ],
)
def test_growth_is_judged(monkeypatch: pytest.MonkeyPatch, column: str, per_epoch: float, found: str) -> None:
    monkeypatch.syspath_prepend(BENCHMARKS)
    growth = importlib.import_module("soak_growth").growth
    epochs = np.arange(1200)
    noise = np.random.default_rng(1).uniform(0, 4, 1200)
    pool = epochs % 3 + 1
    table = {"seconds": epochs * 1.0, "samples": epochs * 1e4, "pool": pool, "private_mb": 70 + pool + noise}
    table |= {
        "heap_mb": 20 + pool + noise,
        "blocks": 160_000 + 100 * noise,
        "threads": pool + 1,
        "files": epochs * 0 + 6,
    }
    assert growth(table)[1] == []
    [sentence] = growth({**table, column: np.floor(table[column] + epochs * per_epoch)})[1]
    assert sentence.startswith(found)


def test_scaling_of_jobs_is_measured(results: Path, tmp_path: Path) -> None:
    target = tmp_path / "scaling.json"
    options = ("--images", "24", "--rounds", "1", "--small", results.parent / "photos", "--folder", tmp_path)
    done = run("scaling.py", *options, "--json", target)
    assert done.returncode == 0, done.stderr
    rates = json.loads(target.read_text("utf-8"))["images_per_second"]
    assert list(rates) == ["augment", "ingest", "convert, re-encoded", "create, photo"]
    assert all(rate > 0 for found in rates.values() for rate in found.values())


def test_the_jpeg_encoders_are_measured_on_equal_bytes(tmp_path: Path) -> None:
    done = run("jpeg_encoder.py", "--rounds", "1", "--sizes", "40x50", "--output", tmp_path / "figures.json")
    assert done.returncode == 0, done.stderr
    cases = json.loads((tmp_path / "figures.json").read_text("utf-8"))["cases"]
    assert [(case["bytes_per_pixel"], case["subsampling"]) for case in cases] == [
        (3, "4:2:0"),
        (3, "4:4:4"),
        (4, "4:2:0"),
        (4, "4:4:4"),
    ]
    assert all(case["microseconds"]["base"] > 0 for case in cases)


@needs("torch", "fsspec", "cv2")
def test_reading_files_is_measured_beside_others(tmp_path: Path) -> None:
    create_photo_folder(tmp_path / "photos", 2, size_mean=(60, 70), classes=1)
    options = ("--rounds", "1", "--loader-rounds", "1", "--epochs", "1", "--files", "2")
    folders = ("--small", tmp_path / "photos", "--camera", tmp_path / "photos")
    done = run("imread.py", *folders, *options, "--peers", "pixelmill", "Pillow", "--json", tmp_path / "imread.json")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads((tmp_path / "imread.json").read_text("utf-8"))
    assert list(result["one_thread"]) == ["small JPEG", "small PNG", "camera JPEG", "camera PNG"]
    for found in result["one_thread"].values():
        assert list(found) == ["pixelmill", "Pillow"]
        assert all(figures["cpu"]["median"] > 0 and figures["levels_from_pillow"] == 0 for figures in found.values())
    assert all(found["median"] > 0 for rates in result["loader"].values() for found in rates.values())
    assert "| pixelmill (" in done.stdout and "| images/s in a torch DataLoader | 0 workers" in done.stdout


@needs("torch", "fsspec", "cv2")
def test_a_store_is_read_next_to_local_files(tmp_path: Path) -> None:
    names = ("local folder", "pixelmill folder", "pixelmill tfrecord blocks")
    options = ("--count", "80", "--latencies", "1", "--threads", "1", "--build", tmp_path)
    done = run("remote.py", *options, "--json", tmp_path / "x.json", "--contestants", *names)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "x.json").read_text("utf-8"))["rows"]
    assert [(row["name"], row["samples"]) for row in rows] == [(name, 80) for name in names]
    assert rows[0]["server_GET"] == 0
    assert rows[1]["server_GET"] >= 80  # with those of the next epoch that were started
    assert rows[2]["server_GET"] < 12 and rows[2]["bytes_over_needed"] < 1.05
