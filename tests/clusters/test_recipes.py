"""What examples/clusters shows runs: torchrun, Slurm and Kubernetes by their variables, manifests by their schemas."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from locations import ROOT
from peers import peer
from small_jobs import tree

from pixelmill import convert, open_dataset
from pixelmill.cli import main
from pixelmill.create import create_photo_folder

kubernetes_validate = peer("kubernetes_validate")

CLUSTERS = ROOT / "examples" / "clusters"
COUNT = 37
SRUN = """#!/bin/bash
for ((rank = 0; rank < SLURM_NTASKS; rank++)); do SLURM_PROCID=$rank "$@" & jobs+=($!); done
for job in "${jobs[@]}"; do wait "$job"; done
"""
SCONTROL = "#!/bin/bash\nset -e\n[ \"$1 $2 $3\" = 'show hostnames here' ]\necho 127.0.0.1\necho 127.0.0.2\n"


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos") / "photos"
    create_photo_folder(folder, COUNT, size_mean=(40, 50), classes=3)
    return folder


def run(command: list[str], **variables: str) -> str:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "GLOO_SOCKET_IFNAME": "lo", "OMP_NUM_THREADS": "1", **variables}
    result = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=200)
    assert result.returncode == 0, result.stderr[-3000:]
    return result.stdout


def check_epochs(seen: Path, photos: Path) -> None:
    """Check that two ranks together saw every image once an epoch, and neither saw all."""
    ranks = [json.loads((seen / f"rank-{rank}.json").read_text()) for rank in range(2)]
    files = {path.relative_to(photos).as_posix() for path in photos.rglob("*.jpg")}
    assert len(files) == COUNT
    for first, second in zip(*ranks, strict=True):
        assert Counter(first) + Counter(second) == Counter(files)
        assert abs(len(first) - len(second)) == 1
    assert ranks[0][0] != ranks[0][1]


def test_torchrun(photos: Path, tmp_path: Path) -> None:
    local = ["--rdzv-backend", "c10d", "--rdzv-endpoint", "127.0.0.1:0", "--local-addr", "127.0.0.1"]
    program = [str(CLUSTERS / "train.py"), "--data", str(photos), "--seen", str(tmp_path)]
    said = run([sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", *local, *program])
    assert "rank 1 of 2, epoch 1: " in said
    check_epochs(tmp_path, photos)


def test_slurm_training(photos: Path, tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, text in {"srun": SRUN, "scontrol": SCONTROL}.items():
        (tools / name).write_text(text)
        (tools / name).chmod(0o700)
    python = Path(sys.executable).parent
    seen = tmp_path / "seen"
    seen.mkdir()
    run(
        ["bash", str(CLUSTERS / "slurm_train.sh"), str(photos), "--seen", str(seen)],
        PATH=f"{tools}{os.pathsep}{python}{os.pathsep}{os.environ['PATH']}",
        SLURM_NTASKS="2",
        SLURM_JOB_NODELIST="here",
        MASTER_PORT=str(_free_port()),
    )
    check_epochs(seen, photos)


def _free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@pytest.mark.parametrize("first", [0, 1])
def test_slurm_array(photos: Path, tmp_path: Path, first: int) -> None:
    output = tmp_path / "output"
    for task in range(first, first + 3):
        assert not (output / "manifest.json").exists()
        run(
            ["bash", str(CLUSTERS / "slurm_convert.sh"), str(photos), str(output), "--samples-per-shard", "5"],
            SLURM_ARRAY_TASK_ID=str(task),
            SLURM_ARRAY_TASK_COUNT="3",
            SLURM_ARRAY_TASK_MIN=str(first),
            SLURM_CPUS_PER_TASK="1",
        )
    convert(photos, tmp_path / "whole", to="webdataset", samples_per_shard=5)
    assert tree(output) == tree(tmp_path / "whole")
    assert len(open_dataset(output)) == COUNT


def manifest(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((CLUSTERS / name).read_text("utf-8"))
    return found


def test_kubernetes_job(photos: Path, tmp_path: Path) -> None:
    job = manifest("kubernetes_job.yaml")
    kubernetes_validate.validate(job, kubernetes_validate.latest_version(), strict=True)
    assert job["spec"]["completionMode"] == "Indexed"
    (container,) = job["spec"]["template"]["spec"]["containers"]
    completions = job["spec"]["completions"]
    program, *arguments = container["command"]
    assert program == "pixelmill"
    assert arguments[-1] == f"$(JOB_COMPLETION_INDEX)/{completions}"
    places = {"/data/train": str(photos), "/data/augmented": str(tmp_path / "augmented")}
    variants = [
        "1" if before == "--variants" else text for before, text in zip(["", *arguments], arguments, strict=False)
    ]
    for index in range(completions):
        given = [places.get(text, text).replace("$(JOB_COMPLETION_INDEX)", str(index)) for text in variants]
        given[given.index("--workers") + 1] = "1"
        with pytest.raises(SystemExit) as ended:
            main(given)
        assert ended.value.code == 0
    assert (tmp_path / "augmented" / "manifest.json").exists()


def test_kuberay(capsys: pytest.CaptureFixture[str]) -> None:
    job = manifest("kuberay.yaml")
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    assert set(job["spec"]) == {"entrypoint", "shutdownAfterJobFinishes", "rayClusterSpec"}
    cluster = job["spec"]["rayClusterSpec"]
    assert set(cluster) == {"headGroupSpec", "workerGroupSpecs"}
    (group,) = cluster["workerGroupSpecs"]
    assert group["minReplicas"] <= group["replicas"] <= group["maxReplicas"]
    for number, template in enumerate((cluster["headGroupSpec"]["template"], group["template"])):
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"pod-{number}"}, **template}
        kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)
        spec = template["spec"]
        mounted = {mount["name"] for mount in spec["containers"][0]["volumeMounts"]}
        assert mounted == {volume["name"] for volume in spec["volumes"]}
    python, program, *options = shlex.split(job["spec"]["entrypoint"])
    assert (python, Path(program).name) == ("python", "train_ray.py")
    given = dict(zip(options[::2], options[1::2], strict=True))
    resources = json.loads(json.loads(group["rayStartParams"]["resources"]))
    offered = resources[given["--resource"]] * group["replicas"]
    assert offered >= int(given["--actors"])
    processors = int(group["template"]["spec"]["containers"][0]["resources"]["requests"]["cpu"])
    assert processors >= int(given["--threads"]) * resources[given["--resource"]]
    text = (CLUSTERS / Path(program).name).read_text("utf-8")
    assert all(f'"{option}"' in text for option in given)


def test_the_page_names_every_recipe() -> None:
    page = (ROOT / "docs" / "clusters.md").read_text("utf-8")
    names = [path.name for path in CLUSTERS.iterdir() if path.is_file()]
    assert len(names) == 6
    assert all(name in page for name in names)
