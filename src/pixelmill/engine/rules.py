"""Rewrite rules: the same result with less work.

Every rule produces the same bits as the program without it (`Pipeline(optimize=False)`). The one exception is decoding
at a lower resolution in the DCT domain, which `decode_scaling=False` turns off.

The passes run in an order that matters:

1. `_fold` merges windows, flips and normalizations into the step before them, and computes shapes from headers.
2. `_narrow_source` restricts the source of a rotation; it needs the window that `_fold` has put into the rotation.
3. `_decode_for_resample` and `_decode_for_place` pass the geometry of a resampling, or of a placement, to its decode;
   the passes before change that geometry.
4. `_read_in_part` marks images that are only decoded; it needs the decodes that are left.
5. `fusion.fuse` merges arithmetic; it comes last because the other rules look for single steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from pixelmill.engine import fusion
from pixelmill.steps.codecs import Decode, ImageShape
from pixelmill.steps.elements import Cast, Normalize
from pixelmill.steps.pixels import BrightnessContrast, ColorTwist
from pixelmill.steps.placement import Place, PlacementGeometry, PlacementShape
from pixelmill.steps.random import GaussianNoise
from pixelmill.steps.resampling import FlipGeometry, Resample, RestrictGeometry
from pixelmill.steps.shapes import Contiguous, Element, Flip, GeometryShape, Join, Shape, Window
from pixelmill.steps.sources import Read
from pixelmill.steps.step import Expr, Step
from pixelmill.steps.warping import RotationMap, Warp, WarpBox
from pixelmill.types import INTERP_LINEAR, UINT8

Rewrite = Callable[[Expr, bool], Expr]

# A JPEG is decoded at a lower scale only if that leaves this many times the output's pixels along each side: the
# resampler, whose filter decides about the sharpness, still does the rest of the reduction.
SCALING_MARGIN = 2


def optimize(outputs: Sequence[Expr], *, decode_scaling: bool) -> list[Expr]:
    """Return the outputs of the program after all rules were applied."""
    folded = _rewrite(outputs, _fold)
    narrowed = _rewrite(folded, _narrow_source)
    decoded = _rewrite(narrowed, lambda expr, alone: _decode_for_resample(expr, alone, decode_scaling))
    decoded = _rewrite(decoded, lambda expr, alone: _decode_for_place(expr, alone, decode_scaling))
    return fusion.fuse(_read_in_part(decoded))


def shaped_like(made: Step) -> Expr | None:
    """Return the input that always has the same shape as the step's result; None if there is none."""
    match made:
        case Flip() | Cast() | Contiguous() | GaussianNoise():
            return made.data
        case BrightnessContrast() | ColorTwist():
            return made.image
    return None


def is_plain(resample: Resample) -> bool:
    """Whether `resample` still outputs an HWC image in its source dtype (nothing fused into it yet)."""
    return not resample.normalize and resample.dtype is None and resample.layout in ("", "HWC")


def _rewrite(outputs: Sequence[Expr], rule: Rewrite) -> list[Expr]:
    """Rebuild a program from its sources to its outputs, applying `rule` to every step with one output.

    The second argument of the rule, `alone`, is whether the step is the only user of its first input. Folding a step
    into an input that others use would compute that input twice. Users are counted before the pass.
    """
    uses = _uses(outputs)
    done: dict[tuple[Step, int], Expr] = {}

    def visit(expr: Expr) -> Expr:
        key = (expr.step, expr.index)
        if key not in done:
            old = expr.step
            inputs = tuple(None if value is None else visit(value) for value in old.inputs)
            if any(new is not value for new, value in zip(inputs, old.inputs, strict=True)):
                made = old.with_inputs(inputs)
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


def _read_in_part(outputs: Sequence[Expr]) -> list[Expr]:
    """Mark the reads whose bytes only decoders of images use."""
    _, users = fusion.users_of(outputs)
    wanted = {expr.step for expr in outputs}

    def rule(expr: Expr, alone: bool) -> Expr:
        made = expr.step
        if not isinstance(made, Read) or made in wanted:
            return expr
        only_decoded = all(isinstance(user, Decode | ImageShape) for user in users.get(made, ()))
        return replace(made, only_decoded=True).value() if only_decoded else expr

    return _rewrite(outputs, rule)


def _uses(outputs: Sequence[Expr]) -> Counter[tuple[Step, int]]:
    """Count the users of each value's elements; users of its shape alone do not count, as shapes come from headers."""
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
                uses[value.step, value.index] += not isinstance(current, Shape)
                todo.append(value)
    return uses


def _fold(expr: Expr, alone: bool) -> Expr:
    """Fold a step into the step before it. `alone` is whether it is the only user of that step."""
    made = expr.step
    if isinstance(made, Shape):
        known = _shape_of(made.data)
        return expr if isinstance(known.step, Shape) and known.step.data is made.data else known
    if not alone:
        return expr
    if isinstance(made, Window) and _is_inside(made):
        return _folded_window(expr, made)
    if isinstance(made, Flip) and _is_plain_resample(made.data.step):
        return _folded_flip(made, made.data)
    if isinstance(made, Normalize) and _is_plain_resample(made.image.step):
        return _folded_normalization(expr, made)
    return expr


def _shape_of(data: Expr) -> Expr:
    """Return the shape of a value, computed without the value if possible: from headers and geometries.

    Random windows depend on shapes. With this, the window of a random crop is known before its image is decoded, and
    only the window is decoded. If the shape needed the decoded image, `_folded_window` would create a cycle.
    """
    made = data.step
    same = shaped_like(made)
    if same is not None:
        return _shape_of(same)
    if isinstance(made, Decode):
        return _decoded_shape(made)
    if isinstance(made, Resample) and is_plain(made):
        return GeometryShape(geometry=made.geometry, shape=_shape_of(made.image), layout=made.layout).value()
    if isinstance(made, Warp) and _rotates(made):
        return _rotated_shape(made)
    if isinstance(made, Place):
        canvas = PlacementShape(placement=made.placement).value()
        return Join(parts=(canvas, Element(vector=_shape_of(made.image), index=2).value())).value()
    return Shape(data=data).value()


def _decoded_shape(made: Decode) -> Expr:
    # The step keeps the origin of the decode: a damaged header is reported as the decoder's fault, not as that of
    # the operator that asked for the shape.
    header = ImageShape(
        encoded=made.encoded, color=made.color, orientation=made.orientation, origin=made.origin
    ).value()
    if made.window is None:
        return header
    height, width = (Element(vector=made.window, index=index).value() for index in (2, 3))
    return Join(parts=(height, width, Element(vector=header, index=2).value())).value()


def _rotated_shape(made: Warp) -> Expr:
    source, first = (made.size, 0) if made.window is None else (made.window, 2)
    assert source is not None
    height, width = (Element(vector=source, index=index).value() for index in (first, first + 1))
    return Join(parts=(height, width, Element(vector=_shape_of(made.image), index=2).value())).value()


def _folded_window(expr: Expr, made: Window) -> Expr:
    """Make the step before a crop compute only the window."""
    source = made.data.step
    # A rotation: pixels outside of the window are not interpolated. It has room for one window, so a second crop stays.
    if isinstance(source, Warp) and _rotates(source) and source.window is None:
        return _like(made.data, replace(source, window=_window(made), window_name=made.name))
    # A decode: libjpeg-turbo stops below the window, and skips the IDCT of blocks to the left and right of it.
    if isinstance(source, Decode) and source.window is None:
        return _like(made.data, replace(source, window=_window(made)))
    # A resampling: the window becomes a part of its geometry, so the filter runs only for the pixels of the window.
    if isinstance(source, Resample) and is_plain(source):
        start, extent = _sorted_window(made)
        narrowed = RestrictGeometry(geometry=source.geometry, start=start, extent=extent, name=made.name).value()
        return _like(made.data, replace(source, geometry=narrowed))
    return expr


def _folded_flip(made: Flip, data: Expr) -> Expr:
    """Make a resampling write its pixels in reverse order, which is free, instead of mirroring them afterwards."""
    source = data.step
    assert isinstance(source, Resample)
    flipped = FlipGeometry(
        geometry=source.geometry, horizontal=made.horizontal, vertical=made.vertical, depthwise=made.depthwise
    ).value()
    return _like(data, replace(source, geometry=flipped))


def _folded_normalization(expr: Expr, made: Normalize) -> Expr:
    """Make a resampling write normalized elements in the final layout.

    Its last pass has the pixels of a row in registers, so this saves a pass over memory. It can neither mirror nor fill
    padding channels with anything but 0; such a normalization stays a step of its own.
    """
    source = made.image.step
    assert isinstance(source, Resample)
    if made.mirror is not None or made.channel_fill is not None:
        return expr
    fused = replace(
        source,
        mean=made.mean,
        std=made.std,
        scale=made.scale,
        shift=made.shift,
        normalize=True,
        dtype=made.dtype,
        out_layout=made.out_layout,
        pad_channels=made.pad_channels,
    )
    return Expr(fused, 0, expr.layout)


def _narrow_source(expr: Expr, alone: bool) -> Expr:
    """Compute only the part of a rotation's source that the window of its result is interpolated from.

    `WarpBox` returns that part. The rotation must know where it lies in the source (`part_start`, `source_shape`):
    pixels outside of the source get the fill value, and must not be confused with pixels outside of the part, which
    exist but are never read.
    """
    made = expr.step
    if not isinstance(made, Warp) or made.window is None or made.part_start is not None or not alone:
        return expr
    rotation, source = made.matrix.step, made.image.step
    assert isinstance(rotation, RotationMap)
    box = WarpBox(matrix=made.matrix, shape=rotation.shape, window=made.window, origin=made.origin)
    start, extent = box.pair()
    part: Step
    if isinstance(source, Resample) and is_plain(source):
        narrowed = RestrictGeometry(geometry=source.geometry, start=start, extent=extent, name="rotate").value()
        part = replace(source, geometry=narrowed)
    elif isinstance(source, Decode) and source.window is None:
        part = replace(source, window=Join(parts=(start, extent)).value())
    else:
        return expr
    image = _like(made.image, part)
    return _like(expr, replace(made, image=image, part_start=start, source_shape=rotation.shape))


def _decode_for_resample(expr: Expr, alone: bool, scaling: bool) -> Expr:
    """Pass to a decode the geometry of its resampling, so that it decodes only the pixels that are read.

    With `scaling`, a JPEG that is downscaled enough is decoded at 1/2, 1/4 or 1/8 of its resolution by a smaller IDCT,
    and the resampler does the rest. Only the decode knows which scale it chose for a sample, so it outputs the adapted
    geometry as its second value, and the resampling uses that one.
    """
    made = expr.step
    if not isinstance(made, Resample) or not alone or made.layout not in ("", "HWC"):
        return expr
    source = made.image.step
    if not isinstance(source, Decode) or source.dtype != UINT8:
        return expr
    # The decode needs the support of the filters, and cannot read filters that differ from sample to sample.
    if made.sample_filter_min is not None or made.sample_filter_mag is not None:
        return expr
    decode = replace(
        source,
        geometry=made.geometry,
        filter_min=made.filter_min,
        filter_mag=made.filter_mag,
        antialias=made.antialias,
        padded_pixels=True,
        scaling=SCALING_MARGIN if scaling else 0,
    )
    return _like(expr, replace(made, image=Expr(decode, 0, "HWC"), geometry=Expr(decode, 1)))


def _decode_for_place(expr: Expr, alone: bool, scaling: bool) -> Expr:
    """Make a decode decode only what a placement looks at, at a scale that leaves enough pixels for it."""
    made = expr.step
    if not isinstance(made, Place) or not alone or made.geometry is not None or not made.linear:
        return expr
    source = made.image.step
    if not isinstance(source, Decode) or source.dtype != UINT8 or source.window is not None:
        return expr
    geometry = PlacementGeometry(placement=made.placement, field=made.field).value()
    decode = replace(
        source,
        geometry=geometry,
        filter_min=INTERP_LINEAR,
        filter_mag=INTERP_LINEAR,
        antialias=True,
        padded_pixels=False,
        scaling=SCALING_MARGIN if scaling else 0,
    )
    return _like(expr, replace(made, image=Expr(decode, 0, "HWC"), geometry=geometry, decoded=Expr(decode, 1)))


def _like(expr: Expr, made: Step) -> Expr:
    return Expr(made, expr.index, expr.layout)


def _is_plain_resample(made: Step) -> bool:
    return isinstance(made, Resample) and is_plain(made)


def _rotates(warp: Warp) -> bool:
    """Whether a warp is a rotation of an image, whose extents are known before it runs."""
    return warp.layout == "HWC" and warp.size is not None and isinstance(warp.size.step, RotationMap)


def _is_inside(window: Window) -> bool:
    return window.policy == "error" and sorted(window.axes) == [0, 1]


def _sorted_window(window: Window) -> tuple[Expr, Expr]:
    """Return start and extent of a window, rows before columns."""
    if window.axes == (0, 1):
        return window.start, window.extent
    start, extent = (
        Join(parts=tuple(Element(vector=part, index=index).value() for index in (1, 0))).value()
        for part in (window.start, window.extent)
    )
    return start, extent


def _window(window: Window) -> Expr:
    return Join(parts=_sorted_window(window)).value()
