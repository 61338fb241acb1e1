"""The keys of plans: they name jobs, so an unfinished job of an earlier version is resumed only if they stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from pixelmill.augmentation.job import AugmentJob
from pixelmill.conversion.job import ConvertJob
from pixelmill.create.images import images_job
from pixelmill.ingest.job import IngestJob
from pixelmill.jobs.job import Job, dump_job, load_job, plan_options
from pixelmill.options.augment import AugmentOptions
from pixelmill.options.convert import ConvertOptions
from pixelmill.options.create import CreateOptions
from pixelmill.options.ingest import RecordOptions
from pixelmill.options.segmentation import SegmentationOptions
from pixelmill.segmentation.job import SegmentationJob

JOBS: dict[str, tuple[Job, str]] = {
    "augment": (
        AugmentJob(options=AugmentOptions("in", to="tfrecord"), recipe_content={"steps": ({"flip": {}},)}),
        "format keep_originals limit mode quality recipe_content samples_per_shard seed subsampling to variants "
        "visibility",
    ),
    "convert": (
        ConvertJob(options=ConvertOptions(("a", "b"), to="npy", split=(("x", 0.5),), resize=(3, 4)), part="x"),
        "format keys limit max_side part quality resize samples_per_shard seed shard_bytes shard_count shuffle split "
        "to",
    ),
    "create": (
        images_job(CreateOptions("out", "a", 30, 20, 4, "jpg", content="shapes")),
        "boxes container count name per_shard pictures",
    ),
    "ingest": (
        IngestJob(options=RecordOptions(), classes={"cat": (0, "cat")}, input_dir="in"),
        "classes dtype img_size mode name num_images num_shards order seed",
    ),
    "segmentation": (SegmentationJob(options=SegmentationOptions(), data_root="in"), "normalize seed valid"),
}
EVERY_JOB = pytest.mark.parametrize(("job", "keys"), JOBS.values(), ids=JOBS)


@EVERY_JOB
def test_plans_keep_their_keys(job: Job, keys: str) -> None:
    assert sorted(plan_options(job)) == keys.split()


@EVERY_JOB
def test_jobs_travel_to_workers_and_back(job: Job, keys: str) -> None:
    again = load_job(dump_job(job))
    assert again == job and again is not job
    assert plan_options(again) == plan_options(job)


def test_what_is_open_here_does_not_travel(tmp_path: Path) -> None:
    job = IngestJob(options=RecordOptions(), classes={}, input_dir=str(tmp_path), listed=())
    assert "listed" not in dump_job(job)["options"] and "listed" not in plan_options(job)
