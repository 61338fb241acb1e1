"""Affine matrices for `warp_affine` and `coord_transform`: 2 x 3 numbers, or 3 x 4, that map old places to new ones."""

from __future__ import annotations

from pixelmill.errors import ArgumentError
from pixelmill.operators.dali import NEARLY, ON_CPU
from pixelmill.operators.declare import Floats, PerSample, Tensor, operator
from pixelmill.steps.sources import constant_numbers
from pixelmill.steps.warping import Combine, CropTransform, Rotation, Scaling, Shear, Translation

MATRIX = "**"  # DALI's layout of a matrix


def _check_counts(name: str, **arguments: Tensor | None) -> None:
    """Refuse constants that are for different numbers of axes."""
    counts = {key: len(numbers) for key, value in arguments.items() if (numbers := constant_numbers(value)) is not None}
    if len(set(counts.values())) > 1:
        told = ", ".join(f"{key} has {count}" for key, count in counts.items())
        raise ArgumentError(f"{name}: all arguments must have one number for each axis; {told}")


@operator("transforms.translation", tolerance=NEARLY, aliases=("TransformTranslation",), dali=ON_CPU)
def translation(matrix: Tensor | None = None, *, offset: PerSample[Floats], reverse_order: bool = False) -> Tensor:
    """Make a matrix that shifts.

    Args:
        matrix: A matrix to be applied before this one.
        offset: How far, x first.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that scales.

    Args:
        matrix: A matrix to be applied before this one.
        scale: A factor for each axis, x first; or one for all, with `ndim`.
        center: The point that stays where it is; the origin when left out.
        ndim: The number of axes, where `scale` is a single factor.
        reverse_order: Apply `matrix` after this one instead.
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
    """Make a matrix that rotates: in the plane, or about an axis in space.

    Args:
        matrix: A matrix to be applied before this one.
        angle: In degrees; positive turns x towards y, which is clockwise on a screen.
        axis: The axis x, y, z to turn about.
        center: The point that stays where it is; the origin when left out.
        reverse_order: Apply `matrix` after this one instead.
    """
    numbers, point = constant_numbers(axis), constant_numbers(center)
    if numbers is not None and (len(numbers) != 3 or not any(numbers)):
        raise ArgumentError(f"transforms.rotation: axis must be three numbers, not all of them 0, got {tuple(numbers)}")
    if point is not None and len(point) != (2 if axis is None else 3):
        raise ArgumentError(f"transforms.rotation: center must be a number for each axis, got {tuple(point)}")
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
    """Make a matrix that shears: each axis is moved along as one goes along the others.

    Args:
        matrix: A matrix to be applied before this one.
        shear: How far: x along y and y along x; in space x along y and z, y along x and z, z along x and y.
        angles: The same as angles in degrees, from -90 to 90.
        center: The point that stays where it is; the origin when left out.
        reverse_order: Apply `matrix` after this one instead.
    """
    if (shear is None) == (angles is None):
        raise ArgumentError("transforms.shear: give one of shear and angles")
    numbers = constant_numbers(angles if shear is None else shear)
    if numbers is not None and len(numbers) not in (2, 6):
        raise ArgumentError(f"transforms.shear: 2 numbers are needed, or 6 in space; got {len(numbers)}")
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
    """Make a matrix that maps one window to another, as a crop and a resize do.

    Args:
        matrix: A matrix to be applied before this one.
        from_start: Where the old window begins; one number is taken for all axes.
        from_end: Where it ends.
        to_start: Where the new window begins.
        to_end: Where it ends.
        absolute: Swap the start and the end of a window that are in the wrong order.
        reverse_order: Apply `matrix` after this one instead.
    """
    bounds = {"from_start": from_start, "from_end": from_end, "to_start": to_start, "to_end": to_end}
    several = {key: value for key, value in bounds.items() if len(constant_numbers(value) or (0, 0)) > 1}
    _check_counts("transforms.crop", **several)
    return CropTransform(matrix=matrix, **bounds, absolute=absolute, reverse_order=reverse_order).value(MATRIX)


@operator("transforms.combine", tolerance=NEARLY, dali=ON_CPU)
def combine(*matrices: Tensor, reverse_order: bool = False) -> Tensor:
    """Make one matrix of several that are applied one after the other.

    Args:
        matrices: Two matrices or more; the first is applied first.
        reverse_order: Apply the last one first.
    """
    if len(matrices) < 2:
        raise ArgumentError("transforms.combine: two matrices or more are needed, got one")
    return Combine(matrices=matrices, reverse_order=reverse_order).value(MATRIX)
