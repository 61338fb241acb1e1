"""Ranks as launchers tell them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from loader_datasets import folder_of_classes
from peers import needs

from pixelmill import ArgumentError, EngineError, ImageLoader
from pixelmill.image_loader.ranks import Ranks, find_ranks, processes_per_machine, usable_processors

NAMES = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "NODE_RANK", "LOCAL_WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS")
SLURM = ("SLURM_STEP_NUM_TASKS", "SLURM_STEP_TASKS_PER_NODE")


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*NAMES, *SLURM):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("environment", "found", "local"),
    [
        ({}, (0, 1), 1),
        ({"RANK": "5", "WORLD_SIZE": "8", "LOCAL_WORLD_SIZE": "4"}, (5, 8), 4),
        ({"LOCAL_RANK": "3", "NODE_RANK": "0", "WORLD_SIZE": "4"}, (3, 4), 4),
        ({"SLURM_PROCID": "2", "SLURM_STEP_NUM_TASKS": "6", "SLURM_STEP_TASKS_PER_NODE": "3(x2)"}, (2, 6), 3),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "6"}, (0, 1), 1),  # sbatch without srun: one process of a larger job
        ({"RANK": "1", "WORLD_SIZE": "2", "SLURM_PROCID": "5", "SLURM_STEP_NUM_TASKS": "6"}, (1, 2), 2),
        ({"RANK": "x", "WORLD_SIZE": "2"}, (0, 1), 1),
    ],
)
def test_environment(
    environment: dict[str, str], found: tuple[int, int], local: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    ranks = find_ranks()
    assert (ranks.rank, ranks.world_size) == found and processes_per_machine(ranks) == local


def test_initialized_torch_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    distributed = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: True, get_rank=lambda: 6, get_world_size=lambda: 7
    )
    monkeypatch.setitem(sys.modules, "torch.distributed", distributed)
    assert find_ranks() == Ranks(6, 7, "torch.distributed")
    assert find_ranks(2, 3) == Ranks(2, 3, "given")
    assert processes_per_machine(find_ranks(2, 3)) == 1


def test_impossible_ranks_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "2")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ArgumentError, match="got rank=2, world_size=2 by RANK and WORLD_SIZE"):
        find_ranks()


def test_threads_are_divided_among_the_processes_of_a_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = folder_of_classes(tmp_path / "d")
    assert ImageLoader(source, size=16).pipeline.num_threads == usable_processors()
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "4")
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    loader = ImageLoader(source, size=16)
    assert loader.pipeline.num_threads == max(usable_processors() // 2, 1)
    assert loader.pipeline.reader_meta("Reader")["number_of_shards"] == 4
    assert ImageLoader(source, size=16, num_threads=3).pipeline.num_threads == 3


def test_a_loader_that_was_used_before_ranks_were_known_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loader = ImageLoader(folder_of_classes(tmp_path / "d"), size=16)
    list(loader)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(EngineError, match="it was first used as rank 0 of 1, and this is now rank 1 of 2"):
        iter(loader)


@needs("torch")
def test_processes_of_torch_share_an_epoch(tmp_path: Path) -> None:
    """Two processes that torch.distributed connects: each sample comes once."""
    source = folder_of_classes(tmp_path / "d", (4, 4))
    program = (
        "import sys, torch.distributed as dist\n"
        "from pixelmill import ImageLoader\n"
        "loader = ImageLoader(sys.argv[1], size=16, batch_size=2, task='unlabeled')\n"  # ranks are not known yet
        "dist.init_process_group('gloo', init_method='file://' + sys.argv[2], rank=int(sys.argv[3]), world_size=2)\n"
        "print(*(name for _, names in loader for name in names), sep='\\n')\n"
        "dist.destroy_process_group()\n"
    )
    environment = {name: value for name, value in os.environ.items() if name not in NAMES}
    command = [sys.executable, "-c", program, str(source), str(tmp_path / "store")]
    runs = [
        subprocess.Popen([*command, str(rank)], stdout=subprocess.PIPE, text=True, env=environment) for rank in range(2)
    ]
    names = [run.communicate(timeout=120)[0].split() for run in runs]
    assert [len(own) for own in names] == [4, 4]
    assert sorted(names[0] + names[1]) == sorted(str(path) for path in source.glob("*/*.png"))
