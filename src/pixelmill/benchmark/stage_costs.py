"""The cost of each stage: the steps of the program, grouped into read, decode, resize, augment and batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from pixelmill.benchmark.bench_report import Stage

_STAGES = {
    "read": ("read", "read_example", "read_recordio", "read_npy", "read_named", "column"),
    "decode": ("decode", "decode_npy", "image_shape"),
    "resize": ("resample",),
}
_STAGE_OF = {step: stage for stage, steps in _STAGES.items() for step in steps}
_ABOUT = {
    "read": "bytes from files, checksums",
    "decode": "pixels from compressed data",
    "resize": "resampling",
    "augment": "draws, mirror, normalization, copies",
    "batch": "order, batches, Python",
}
_FUSED = "resampling; mirror and normalization in the same pass"
_OWN_PASS = ("normalize", "flip", "cast", "contiguous", "expression", "arithmetic")


def stages(steps: Mapping[str, int], *, images: int, cpu_seconds: float, normalized: bool) -> tuple[Stage, ...]:
    """Group steps into stages.

    Args:
        steps: Nanoseconds of each kind of step.
        images: How many samples they were run for.
        cpu_seconds: Processor time of the whole process meanwhile; what no step has used belongs to batches.
        normalized: Whether the work asks for normalized images.
    """
    spent: Counter[str] = Counter()
    for step, nanoseconds in steps.items():
        spent[_STAGE_OF.get(step, "augment")] += nanoseconds
    spent["batch"] = max(round(cpu_seconds * 1e9) - spent.total(), 0)
    total = max(spent.total(), 1)
    fused = normalized and "resample" in steps and not any(step in steps for step in _OWN_PASS)
    return tuple(
        Stage(
            name,
            _FUSED if name == "resize" and fused else about,
            round(spent[name] / images / 1e6, 5),
            round(spent[name] / total, 5),
        )
        for name, about in _ABOUT.items()
        if spent[name]
    )
