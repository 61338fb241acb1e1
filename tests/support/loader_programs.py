"""Programs that `pipeline_source` returns, and how their batches are compared."""

from __future__ import annotations

from typing import Any

import numpy as np


def flat(value: Any) -> list[bytes | str]:
    """Return the bytes of all arrays of a batch."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [name for key, item in value.items() for name in (key, *flat(item))]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in flat(item)]
    if str(getattr(value, "dtype", "")) == "torch.bfloat16":
        value = value.float()
    return [f"{value.dtype} {tuple(value.shape)}", np.asarray(value).tobytes()]


def namespace_of(text: str) -> dict[str, Any]:
    """Run a program and return its names."""
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, "program.py", "exec"), names)  # the text is ours
    return names
