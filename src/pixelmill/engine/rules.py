"""Rewrite rules: the same result from less work.

Every rule is a few lines and gives the same bits as the program without it (`Pipeline(optimize=False)`), but for
decoding in the DCT domain, which `decode_scaling=False` turns off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from pixelmill.engine import fusion
from pixelmill.operators.program import Expr, Step, rebuilt, step

Rewrite = Callable[[Expr, bool], Expr]

# Steps whose result has the shape of their first input.
KEEP_SHAPE = frozenset({"flip", "cast", "contiguous", "brightness_contrast", "colour_twist", "gaussian_noise"})

# A JPEG decoded at a lower scale keeps this many times the pixels of the output along each side, for the resampler.
SCALING_MARGIN = 2


def optimize(outputs: Sequence[Expr], *, decode_scaling: bool) -> list[Expr]:
    """Apply all rules."""
    folded = _rewrite(outputs, _fold)
    narrowed = _rewrite(folded, _narrow_source)
    decoded = _rewrite(narrowed, lambda expr, alone: _decode_for_resample(expr, alone, decode_scaling))
    return fusion.fuse(decoded)


def _rewrite(outputs: Sequence[Expr], rule: Rewrite) -> list[Expr]:
    """Rebuild a program from its sources to its outputs, asking `rule` about every step with one output."""
    uses = _uses(outputs)
    done: dict[tuple[Step, int], Expr] = {}

    def visit(expr: Expr) -> Expr:
        key = (expr.step, expr.index)
        if key not in done:
            old = expr.step
            inputs = tuple(None if value is None else visit(value) for value in old.inputs)
            if any(new is not value for new, value in zip(inputs, old.inputs, strict=True)):
                made = Step(old.kind, inputs, old.params, old.outputs, old.origin)
                for index in range(old.outputs):
                    done[old, index] = Expr(made, index, expr.layout)
            else:
                done[key] = expr
            first = old.inputs[0] if old.inputs else None
            alone = first is not None and uses[first.step, first.index] == 1
            if old.outputs == 1:
                done[key] = rule(Expr(done[key].step, 0, expr.layout), alone)
        return done[key]

    return [visit(expr) for expr in outputs]


def _uses(outputs: Sequence[Expr]) -> Counter[tuple[Step, int]]:
    """Count who needs the elements of each value; asking for its shape does not count."""
    uses: Counter[tuple[Step, int]] = Counter()
    seen: set[Step] = set()
    todo = [*outputs]
    uses.update((expr.step, expr.index) for expr in outputs)
    while todo:
        current = todo.pop().step
        if current in seen:
            continue
        seen.add(current)
        for value in current.inputs:
            if value is not None:
                uses[value.step, value.index] += current.kind != "shape"
                todo.append(value)
    return uses


def _fold(expr: Expr, alone: bool) -> Expr:
    """Take the shape of a picture from its header; let resampling crop, flip and normalise, and rotations crop."""
    kind, inputs = expr.step.kind, expr.step.inputs
    first = inputs[0] if inputs else None
    if first is None:
        return expr
    source = first.step
    if kind == "shape" and source.kind == "decode":
        return _decoded_shape(first)
    if kind == "shape" and source.kind in KEEP_SHAPE:
        return _fold(step("shape", source.inputs[0]), False)
    if kind == "shape" and source.kind == "resample" and _plain(first):
        picture, geometry = source.inputs[:2]
        shape = _fold(step("shape", picture), False)
        return step("geometry_shape", geometry, shape, layout=source.params["layout"])
    if kind == "shape" and source.kind == "warp" and _turns(first):
        return _turned_shape(first)
    if not alone:
        return expr
    if kind == "window" and _inside(expr):
        if source.kind == "warp" and _turns(first) and len(source.inputs) == 4:
            return rebuilt(first, *source.inputs, _window(expr), window=expr.step.params["name"])
        if source.kind == "decode" and source.inputs[1] is None:
            return rebuilt(first, source.inputs[0], _window(expr))
        if source.kind == "resample" and _plain(first):
            narrowed = step("restrict_geometry", source.inputs[1], *_sorted_window(expr), name=expr.step.params["name"])
            return rebuilt(first, source.inputs[0], narrowed, *source.inputs[2:])
    if kind == "flip" and source.kind == "resample" and _plain(first):
        flipped = step("flip_geometry", source.inputs[1], *inputs[1:])
        return rebuilt(first, source.inputs[0], flipped, *source.inputs[2:])
    if kind == "normalize" and source.kind == "resample" and _plain(first) and inputs[1] is None and inputs[6] is None:
        return _normalising_resample(expr, first)
    return expr


def _narrow_source(expr: Expr, alone: bool) -> Expr:
    """Ask for no more of the source of a rotation than the window that is left of its result looks at."""
    if expr.step.kind != "warp" or len(expr.step.inputs) != 5 or not alone:
        return expr
    picture, turn, size, fill, window = expr.step.inputs
    assert picture is not None and turn is not None
    resized = picture.step.kind == "resample" and _plain(picture)
    if not resized and (picture.step.kind != "decode" or picture.step.inputs[1] is not None):
        return expr
    shape = turn.step.inputs[0]
    found = Step("warp_box", (turn, shape, window), {}, 2, expr.step.origin)
    box = (Expr(found, 0), Expr(found, 1))
    data, geometry, *rest = picture.step.inputs
    part = step("restrict_geometry", geometry, *box, name="rotate") if resized else step("join", *box)
    return rebuilt(expr, rebuilt(picture, data, part, *rest), turn, size, fill, window, box[0], shape)


def _plain(resample: Expr) -> bool:
    """Tell whether a resampling step still gives a picture with rows, columns and channels, in its own type."""
    params = resample.step.params
    return not params["normalize"] and params["dtype"] == -1 and params["layout"] in ("", "HWC")


def _turns(warp: Expr) -> bool:
    """Tell whether a warp is a rotation of a picture, whose extents are known without it."""
    params, size = warp.step.params, warp.step.inputs[2]
    return params["layout"] == "HWC" and size is not None and size.step.kind == "rotation_map"


def _turned_shape(warp: Expr) -> Expr:
    picture, _, size, _, *window = warp.step.inputs
    source = window[0] if window else size
    assert picture is not None and source is not None
    extents = (step("element", source, index=index + 2 * len(window)) for index in (0, 1))
    return step("join", *extents, step("element", _fold(step("shape", picture), False), index=2))


def _inside(window: Expr) -> bool:
    params = window.step.params
    return params["policy"] == "error" and sorted(params["axes"]) == [0, 1]


def _sorted_window(window: Expr) -> tuple[Expr, ...]:
    """Give start and extent of a window, rows before columns."""
    parts = window.step.inputs[1:3]
    if list(window.step.params["axes"]) == [0, 1]:
        return tuple(part for part in parts if part is not None)
    return tuple(step("join", step("element", part, index=1), step("element", part, index=0)) for part in parts)


def _window(window: Expr) -> Expr:
    return step("join", *_sorted_window(window))


def _decoded_shape(decode: Expr) -> Expr:
    params, (data, window, *_) = decode.step.params, decode.step.inputs
    asked = {"color": params["color"], "orientation": params["orientation"]}
    header = Expr(Step("image_shape", (data,), asked, 1, decode.step.origin))  # a bad header is the decoder's matter
    if window is None:
        return header
    extents = (step("element", window, index=index) for index in (2, 3))
    return step("join", *extents, step("element", header, index=2))


def _normalising_resample(normalize: Expr, resample: Expr) -> Expr:
    params = normalize.step.params
    fused = rebuilt(
        resample,
        *resample.step.inputs[:2],
        *normalize.step.inputs[2:6],
        *resample.step.inputs[6:],
        normalize=True,
        dtype=params["dtype"],
        out_layout=params["out_layout"],
        pad_channels=params["pad_channels"],
    )
    return Expr(fused.step, 0, normalize.layout)


def _decode_for_resample(expr: Expr, alone: bool, scaling: bool) -> Expr:
    """Let a decode know its resampling: it then decodes the pixels that are read, and no more of them than needed."""
    if expr.step.kind != "resample" or not alone or expr.step.params["layout"] not in ("", "HWC"):
        return expr
    picture, geometry, *epilogue = expr.step.inputs
    if picture is None or picture.step.kind != "decode" or picture.step.params["dtype"] != 0:
        return expr
    if any(value is not None for value in expr.step.inputs[6:]):  # the decode would have to know the filters
        return expr
    params = {key: expr.step.params[key] for key in ("filter_min", "filter_mag", "antialias")}
    decode = Step(
        "decode",
        (*picture.step.inputs[:2], geometry),
        {**picture.step.params, **params, "padded_pixels": True, "scaling": SCALING_MARGIN * scaling},
        2,
        picture.step.origin,
    )
    return rebuilt(expr, Expr(decode, 0, "HWC"), Expr(decode, 1), *epilogue)
