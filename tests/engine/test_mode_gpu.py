"""`--mode gpu`: refused with a reason where there is no GPU; with GPUs, one process for each."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from command_runner import CliRunner
from small_jobs import GpuJob

from pixelmill import EngineError
from pixelmill.cli import main
from pixelmill.engine import devices
from pixelmill.engine.devices import Dali, Driver, Gpu
from pixelmill.engine.placement import MODES, Placement, check_mode, placement_for, versions_of
from pixelmill.errors import ArgumentError, MissingDependency
from pixelmill.jobs import run_job
from pixelmill.jobs.ray import processors_per_gpu
from pixelmill.ray import connection

TWO = tuple(Gpu(number, f"GPU {number}", 8 << 30, (8, 0)) for number in range(2))
INSTALLED = Dali("nvidia-dali-cuda120", "2.4.0")


@pytest.fixture
def two_gpus(monkeypatch):
    """Pretend that there are two GPUs."""
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    here(monkeypatch, Driver(TWO, (12, 4)))


@pytest.fixture
def no_gpu(monkeypatch):
    here(monkeypatch, Driver())


def here(monkeypatch, driver, dali=INSTALLED):
    monkeypatch.setattr(devices, "find_driver", lambda: driver)
    monkeypatch.setattr(devices, "find_dali", lambda: dali)


def seen(folder):
    """Return what each process saw, by process."""
    return dict(reversed(path.read_text().split()) for path in sorted(folder.glob("*.txt")))


def test_each_process_sees_one_gpu(two_gpus, tmp_path):
    assert run_job(GpuJob(), tmp_path / "out", num_gpus=1).made == 4
    assert sorted(seen(tmp_path / "out").values()) == ["0", "1"]


def test_more_processes_than_gpus_share_them(two_gpus, tmp_path):
    run_job(GpuJob(count=6), tmp_path / "out", num_gpus=1, workers=3)
    assert sorted(seen(tmp_path / "out").values()) == ["0", "0", "1"]


def test_gpus_are_named_as_they_were_to_us(two_gpus, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5, GPU-8932f937-d72c")
    run_job(GpuJob(), tmp_path / "out", num_gpus=1)
    assert sorted(seen(tmp_path / "out").values()) == ["5", "GPU-8932f937-d72c"]


def test_jobs_without_gpus_inherit_everything(two_gpus, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "5,6")
    run_job(GpuJob(), tmp_path / "out", workers=2)
    assert set(seen(tmp_path / "out").values()) == {"5,6"}


def test_a_job_that_needs_gpus_is_refused_before_anything_is_written(no_gpu, tmp_path):
    with pytest.raises(EngineError, match=r"no NVIDIA driver.*--mode cpu"):
        run_job(GpuJob(), tmp_path / "out", num_gpus=1)
    assert not (tmp_path / "out").exists()


def test_placement_says_where_decoding_and_operators_are(two_gpus):
    assert placement_for("job", "cpu") == Placement() and Placement().decoder == "cpu"
    assert placement_for("job", "dali") == Placement("dali")
    gpu = placement_for("job", "gpu")
    assert (gpu.engine, gpu.device_id, gpu.device, gpu.decoder) == ("dali", 0, "gpu", "mixed")
    assert versions_of("cpu") == {} and versions_of("gpu") == {"dali": "2.4.0"}


def test_the_first_usable_gpu_is_taken(monkeypatch):
    old = Gpu(0, "GeForce GTX 680", 2 << 30, (3, 0))
    here(monkeypatch, Driver((old, TWO[1]), (12, 4)))
    assert placement_for("job", "gpu").device_id == 1


def test_modes_are_checked(monkeypatch):
    here(monkeypatch, Driver(), Dali())
    check_mode("job", "cpu")
    with pytest.raises(ArgumentError, match="job: mode must be cpu, gpu or auto, got 'tpu'"):
        check_mode("job", "tpu")
    with pytest.raises(MissingDependency, match=r"nvidia\.dali"):
        check_mode("job", "dali")
    with pytest.raises(MissingDependency, match=r"nvidia\.dali"):
        check_mode("job", "gpu", here=False)  # a cluster may have GPUs, but the work is planned with DALI's version
    with pytest.raises(EngineError, match="no NVIDIA GPU"):
        check_mode("job", "gpu")
    assert MODES == ("cpu", "gpu", "dali")


def test_commands_say_what_is_missing_and_what_works_instead(no_gpu, tmp_path):
    (tmp_path / "in" / "a").mkdir(parents=True)
    for command in (
        ["augment", "--mode", "gpu", str(tmp_path / "in"), "--output", str(tmp_path / "out")],
        ["ingest", "--mode", "gpu", "--input_dir", str(tmp_path / "in"), "--output_dir", str(tmp_path / "out")],
    ):
        result = CliRunner().invoke(main, command)
        assert result.exit_code == 1
        said = f"Error: {command[0]}: no NVIDIA GPU can be used: there is no NVIDIA driver (libcuda.so.1); "
        assert result.output.startswith(said) and "--mode cpu" in result.output
        assert not (tmp_path / "out").exists()


def test_a_ray_cluster_without_gpus_is_refused(monkeypatch, tmp_path):
    """Its tasks would wait for ever."""
    resources = SimpleNamespace(is_initialized=lambda: True, cluster_resources=lambda: {"CPU": 8.0})
    monkeypatch.setattr(connection, "import_ray", lambda: resources)
    with pytest.raises(EngineError, match=r"no node of the Ray cluster has a GPU; --mode cpu"):
        run_job(GpuJob(), tmp_path / "out", runner="ray", num_gpus=1)


def test_ray_tasks_have_their_share_of_processors():
    nodes = [
        {"Alive": True, "Resources": {"CPU": 96.0}},
        {"Alive": True, "Resources": {"CPU": 64.0, "GPU": 8.0}},
        {"Alive": True, "Resources": {"CPU": 24.0, "GPU": 4.0}},
        {"Alive": False, "Resources": {"CPU": 2.0, "GPU": 1.0}},
    ]
    assert processors_per_gpu(nodes) == 6
    assert processors_per_gpu(nodes[:2]) == 8
    assert processors_per_gpu([{"Alive": True, "Resources": {"CPU": 1.0, "GPU": 2.0}}]) == 1
    assert processors_per_gpu([]) == 1


def test_gpus_get_larger_batches(two_gpus):
    assert placement_for("job", "gpu").batch_size(8) == 64
    assert placement_for("job", "cpu").batch_size(8) == placement_for("job", "dali").batch_size(8) == 8
