"""Jobs as Ray tasks on a cluster of two nodes, one of which dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from locations import SUPPORT
from peers import needs
from small_jobs import NumbersJob, tree

from pixelmill import augment
from pixelmill.create import create_images
from pixelmill.jobs import run_job

PROGRAM = """
import json, os, sys, threading, time
from pathlib import Path
import ray
from ray.cluster_utils import Cluster
from small_jobs import GpuJob, NumbersJob, tree
from pixelmill import augment
from pixelmill.create import create_images
from pixelmill.errors import DataError
from pixelmill.jobs import run_job

output = Path(sys.argv[1])
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "num_gpus": 2})
doomed = cluster.add_node(num_cpus=1)
ray.init(address=cluster.address, log_to_driver=False)
said = {}
attempts = output / "attempts"
attempts.mkdir()

def kill():
    while not list(attempts.glob(f"*-{doomed.node_id}")):  # it is in the middle of its first shard then
        time.sleep(0.01)
    said["killed"] = True
    cluster.remove_node(doomed, allow_graceful=False)

killer = threading.Thread(target=kill, daemon=True)
killer.start()
job = NumbersJob(count=48, per_shard=4, sleep=0.3, attempts=str(attempts))
report = run_job(job, output / "out", runner="ray")
said["attempts"] = len(list(attempts.iterdir()))
said["report"] = [report.complete, report.made, report.samples]
said["tree"] = tree(output / "out")
try:
    run_job(NumbersJob(count=8, bad=(5,), per_shard=4), output / "bad", runner="ray")
except DataError as error:
    said["bad"] = [event.sample for event in error.events]
create_images(output / "made", "i_", 64, 48, 12, "jpg", container="tfrecord", img_per_file=4, runner="ray")
create_images(output / "files", "i_", 64, 48, 12, "png", chunksize=4, runner="ray")
augment(output / "made", output / "more", variants=2, runner="ray")
said |= {name: tree(output / name) for name in ("made", "files", "more")}
run_job(GpuJob(count=2), output / "gpus", runner="ray", num_gpus=1)
said["gpus"] = [path.read_text().split()[0] for path in (output / "gpus").glob("*.txt")]
(output / "said.json").write_text(json.dumps(said))
ray.shutdown()
cluster.shutdown()
"""


@needs("ray")
def test_cluster_writes_the_same_though_a_node_dies(tmp_path: Path) -> None:
    run_job(NumbersJob(count=48, per_shard=4), tmp_path / "expected", workers=1)
    result = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        cwd=SUPPORT,
        env={**os.environ, "PYTHONPATH": str(SUPPORT), "RAY_DISABLE_IMPORT_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=180,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    said = json.loads((tmp_path / "said.json").read_text("utf-8"))
    assert said["report"] == [True, 12, 48]
    assert said["killed"]
    assert said["attempts"] > 12
    assert said["bad"] == [5]
    assert len(said["gpus"]) == 2 and set(said["gpus"]) <= {"0", "1"}  # each task sees one
    assert said["tree"] == tree(tmp_path / "expected")
    here = tmp_path / "here"
    create_images(here / "made", "i_", 64, 48, 12, "jpg", container="tfrecord", img_per_file=4)
    create_images(here / "files", "i_", 64, 48, 12, "png", chunksize=4)
    augment(here / "made", here / "more", variants=2, workers=2)
    for name in ("made", "files", "more"):
        assert said[name] == tree(here / name)
