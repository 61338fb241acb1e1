"""A job from S3 to S3 that tests kill: run with the address of the source and of the output."""

from __future__ import annotations

import sys
from functools import partial

from pixelmill import convert
from pixelmill.jobs import run
from pixelmill.jobs.lock import Lease, Lock
from pixelmill.storage import remote_writes

if __name__ == "__main__":
    setattr(run, "Lock", partial(Lock, lease=Lease(beat=0.2, silence=1.0, look=0.1)))  # noqa: B010 - a class
    remote_writes.PARTS_FROM = remote_writes._PART = 8192  # the files are small
    convert(sys.argv[1], sys.argv[2], to="tfrecord", samples_per_shard=8, workers=1, exists="resume")
