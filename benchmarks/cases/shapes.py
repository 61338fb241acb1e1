"""Copies, casts, and changes of shape."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np

from cases.case import SMALL, Case


def _frames(m: Any, x: Any) -> Any:
    return m.fn.element_extract(x, element_map=[1, 5])


TABLE = [float(255 - level) for level in range(256)]
INVERTED = np.arange(255, -1, -1).astype(np.uint8)
CASES = [
    Case("copy", "uf", lambda m, x: m.fn.copy(x), lambda x: x.copy()),
    Case("cast to float32", "u", lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT), lambda x: x.astype(np.float32)),
    Case("cast to uint8", "f", lambda m, x: m.fn.cast(x, dtype=m.types.UINT8), lambda x: cv2.convertScaleAbs(x)),
    Case("cast_like", "u", lambda m, x: m.fn.cast_like(x, np.float32(0)), lambda x: x.astype(np.float32)),
    Case(
        "lookup_table",
        "u",
        lambda m, x: m.fn.lookup_table(x, keys=list(range(256)), values=TABLE, dtype=m.types.UINT8),
        lambda x: cv2.LUT(x, INVERTED),
    ),
    Case("one_hot", "l", lambda m, x: m.fn.one_hot(x, num_classes=10), batch=SMALL),
    Case("transpose to CHW", "uf", lambda m, x: m.fn.transpose(x, perm=[2, 0, 1]), lambda x: cv2.split(x)),
    Case("transpose of height and width", "uf", lambda m, x: m.fn.transpose(x, perm=[1, 0, 2]), cv2.transpose),
    Case("flip horizontal", "uf", lambda m, x: m.fn.flip(x), lambda x: cv2.flip(x, 1)),
    Case("flip vertical", "uf", lambda m, x: m.fn.flip(x, horizontal=0, vertical=1), lambda x: cv2.flip(x, 0)),
    Case("flip both", "uf", lambda m, x: m.fn.flip(x, vertical=1), lambda x: cv2.flip(x, -1)),
    Case("cat along height", "uf", lambda m, x: m.fn.cat(x, x, axis=0), lambda x: cv2.vconcat([x, x])),
    Case("cat along width", "uf", lambda m, x: m.fn.cat(x, x, axis=1), lambda x: cv2.hconcat([x, x])),
    Case("cat of channels", "uf", lambda m, x: m.fn.cat(x, x, axis=2), lambda x: np.concatenate([x, x], 2)),
    Case("stack", "uf", lambda m, x: m.fn.stack(x, x), lambda x: np.stack([x, x])),
    Case("stack as last axis", "u", lambda m, x: m.fn.stack(x, x, axis=3), lambda x: np.stack([x, x], 3)),
    Case("reshape", "uf", lambda m, x: m.fn.reshape(x, shape=[-1, 3])),
    Case("reinterpret", "u", lambda m, x: m.fn.reinterpret(x, dtype=m.types.INT8)),
    Case("squeeze", "g", lambda m, x: m.fn.squeeze(x, axes=[2])),
    Case("expand_dims", "u", lambda m, x: m.fn.expand_dims(x, axes=[0])),
    Case("x[:, :, 0]", "uf", lambda m, x: x[:, :, 0], lambda x: cv2.extractChannel(x, 0)),
    Case("x[50:450, 30:400]", "uf", lambda m, x: x[50:450, 30:400], lambda x: x[50:450, 30:400].copy()),
    Case("x[:, :, newaxis]", "u", lambda m, x: x[:, :, m.newaxis]),
    Case("x.shape()", "u", lambda m, x: x.shape()),
    Case("get_property", "u", lambda m, x: m.fn.get_property(x, key="layout")),
    Case("full", "-", lambda m, x: m.fn.full(0.5, shape=[512, 512, 3])),
    Case("zeros", "-", lambda m, x: m.fn.zeros(shape=[512, 512, 3], dtype=m.types.FLOAT)),
    Case("ones", "-", lambda m, x: m.fn.ones(shape=[512, 512, 3], dtype=m.types.UINT8)),
    Case("full_like", "f", lambda m, x: m.fn.full_like(x, 0.5)),
    Case("zeros_like", "u", lambda m, x: m.fn.zeros_like(x)),
    Case("ones_like", "f", lambda m, x: m.fn.ones_like(x)),
    Case("per_frame", "v", lambda m, x: m.fn.copy(m.fn.per_frame(x))),
    Case("sequence_rearrange", "v", lambda m, x: m.fn.sequence_rearrange(x, new_order=[7, 0, 3])),
    Case("element_extract", "v", lambda m, x: _frames(m, x)[1]),
    Case("permute_batch", "uf", lambda m, x: m.fn.permute_batch(x, indices=[3, 2, 1, 0])),
    Case("batch_permutation", "-", lambda m, x: m.fn.batch_permutation(), batch=SMALL),
]
