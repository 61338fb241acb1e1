"""Affine matrices (2 x 3, or 3 x 4 in space), from input to output coordinates, for `warp_affine` and points."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import NEARLY, ON_CPU
from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.sources import constant_numbers
from pixelmill.steps.warping import Combine, CropTransform, Rotation, Scaling, Shear, Translation

MATRIX = "**"  # DALI's layout for matrices


def _check_counts(name: str, **arguments: Tensor | None) -> None:
    """Raise ArgumentError for constants with different numbers of axes."""
    counts = {key: len(numbers) for key, value in arguments.items() if (numbers := constant_numbers(value)) is not None}
    if len(set(counts.values())) > 1:
        counted = ", ".join(f"{key} has {count}" for key, count in counts.items())
        raise ArgumentError(f"{name}: all arguments must have one number per axis; {counted}")


@operator("transforms.translation", tolerance=NEARLY, aliases=("TransformTranslation",), dali=ON_CPU)
def translation(matrix: Tensor | None = None, *, offset: PerSample[Floats], reverse_order: bool = False) -> Tensor:
    """Create a translation matrix.

    Args:
        matrix: A matrix to combine with this transform; it is applied first.
        offset: The translation along each axis, x first.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
    """
    return Translation(matrix=matrix, offset=offset, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.scale", tolerance=NEARLY, dali=ON_CPU)
def scale(
    matrix: Tensor | None = None,
    *,
    scale: PerSample[Floats],
    center: PerSample[Floats] | None = None,
    ndim: int | None = None,
    reverse_order: bool = False,
) -> Tensor:
    """Create a scaling matrix.

    Args:
        matrix: A matrix to combine with this transform; it is applied first.
        scale: The factor for each axis, x first; or one for all, together with `ndim`.
        center: The fixed point of the transform; the origin if None.
        ndim: The number of axes, if `scale` is a single factor.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
    """
    factors = constant_numbers(scale)
    if ndim is not None and not 1 <= ndim <= 6:
        raise ArgumentError(f"transforms.scale: ndim must be from 1 to 6, got {ndim}")
    if factors is not None and not (len(factors) == 1 and ndim is not None):
        _check_counts("transforms.scale", scale=scale, center=center)
    return Scaling(matrix=matrix, scale=scale, center=center, ndim=ndim or 0, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.rotation", tolerance=NEARLY, dali=ON_CPU)
def rotation(
    matrix: Tensor | None = None,
    *,
    angle: PerSample[float],
    axis: PerSample[Floats] | None = None,
    center: PerSample[Floats] | None = None,
    reverse_order: bool = False,
) -> Tensor:
    """Create a rotation matrix, in the plane or about an axis in space.

    Args:
        matrix: A matrix to combine with this transform; it is applied first.
        angle: Rotation angle in degrees; positive angles rotate x toward y, which is clockwise on a screen.
        axis: The rotation axis (x, y, z); in the plane if None.
        center: The fixed point of the transform; the origin if None.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
    """
    numbers, point = constant_numbers(axis), constant_numbers(center)
    if numbers is not None and (len(numbers) != 3 or not any(numbers)):
        raise ArgumentError(f"transforms.rotation: axis must be three numbers, not all of them 0, got {tuple(numbers)}")
    if point is not None and len(point) != (2 if axis is None else 3):
        raise ArgumentError(f"transforms.rotation: center must be one number per axis, got {tuple(point)}")
    return Rotation(matrix=matrix, angle=angle, axis=axis, center=center, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.shear", tolerance=NEARLY, dali=ON_CPU)
def shear(
    matrix: Tensor | None = None,
    *,
    shear: PerSample[Floats] | None = None,
    angles: PerSample[Floats] | None = None,
    center: PerSample[Floats] | None = None,
    reverse_order: bool = False,
) -> Tensor:
    """Create a shear matrix.

    Args:
        matrix: A matrix to combine with this transform; it is applied first.
        shear: Shear factors: x along y and y along x; in space x along y and z, y along x and z, z along x and y.
        angles: The same as angles in degrees, from -90 to 90.
        center: The fixed point of the transform; the origin if None.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
    """
    if (shear is None) == (angles is None):
        raise ArgumentError("transforms.shear: specify either shear or angles")
    numbers = constant_numbers(angles if shear is None else shear)
    if numbers is not None and len(numbers) not in (2, 6):
        raise ArgumentError(f"transforms.shear: expected 2 numbers, or 6 in space; got {len(numbers)}")
    if shear is None and numbers is not None and not all(-90 <= number <= 90 for number in numbers):
        raise ArgumentError(f"transforms.shear: angles must be from -90 to 90, got {tuple(numbers)}")
    return Shear(matrix=matrix, shear=shear, angles=angles, center=center, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.crop", tolerance=NEARLY, dali=ON_CPU)
def crop(
    matrix: Tensor | None = None,
    *,
    from_start: PerSample[Floats] = [0.0],  # noqa: B006 - never changed
    from_end: PerSample[Floats] = [1.0],  # noqa: B006
    to_start: PerSample[Floats] = [0.0],  # noqa: B006
    to_end: PerSample[Floats] = [1.0],  # noqa: B006
    absolute: bool = False,
    reverse_order: bool = False,
) -> Tensor:
    """Create a matrix that maps one window to another, like a crop followed by a resize.

    Args:
        matrix: A matrix to combine with this transform; it is applied first.
        from_start: Start of the input window; one number is used for all axes.
        from_end: End of the input window.
        to_start: Start of the output window.
        to_end: End of the output window.
        absolute: Whether to swap the start and end of a window that are in the wrong order.
        reverse_order: Whether to apply `matrix` after this transform instead of before it.
    """
    bounds = {"from_start": from_start, "from_end": from_end, "to_start": to_start, "to_end": to_end}
    several = {key: value for key, value in bounds.items() if len(constant_numbers(value) or (0, 0)) > 1}
    _check_counts("transforms.crop", **several)
    return CropTransform(matrix=matrix, **bounds, absolute=absolute, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.combine", tolerance=NEARLY, dali=ON_CPU)
def combine(*matrices: Tensor, reverse_order: bool = False) -> Tensor:
    """Combine several affine matrices into one.

    Args:
        matrices: Two matrices or more; the first is applied first.
        reverse_order: Whether to apply the last one first.
    """
    if len(matrices) < 2:
        raise ArgumentError("transforms.combine: expected two matrices or more, got one")
    return Combine(matrices=matrices, reverse_order=reverse_order).value(MATRIX)
