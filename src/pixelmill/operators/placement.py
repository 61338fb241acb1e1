"""Internal operators of geometric moves that add up to one placement, see pixelmill.recipe."""

from __future__ import annotations

from pixelmill.operators.declare import Tensor, operator
from pixelmill.steps.placement import MoveName, MovePlacement, Place, PlacementShape, StartPlacement


@operator("_placement.start", dali=None)
def start(shape: Tensor) -> Tensor:
    """Return the placement of an image that nothing has moved.

    Args:
        shape: The shape of the image.
    """
    return StartPlacement(shape=shape).value()


@operator("_placement.move", outputs=2, dali=None)
def move(placement: Tensor, active: Tensor, *numbers: Tensor, move: MoveName) -> tuple[Tensor, ...]:
    """Add a move to a placement; return the new placement and the move alone.

    Args:
        placement: The placement so far.
        active: Whether the sample is moved.
        numbers: The arguments of the move.
        move: Its name.
    """
    return MovePlacement(placement=placement, active=active, numbers=numbers, move=move).values("", "")


@operator("_placement.canvas", dali=None)
def canvas(placement: Tensor) -> Tensor:
    """Return the height and width of the image that a placement describes.

    Args:
        placement: The placement.
    """
    return PlacementShape(placement=placement).value()


@operator("_placement.place", dali=None)
def place(
    image: Tensor,
    placement: Tensor,
    field: Tensor | None = None,
    *,
    linear: bool = True,
    smooth: bool = True,
    fill_value: float = 0.0,
) -> Tensor:
    """Make the image that a placement describes.

    Args:
        image: The source, HWC.
        placement: The placement.
        field: Displacements at the nodes of a grid, float, (rows, columns, 2): x and y as fractions of the canvas.
        linear: Whether pixels are interpolated instead of copied.
        smooth: Whether the field is cubic instead of linear between its nodes.
        fill_value: The value of pixels from outside of the source.
    """
    made = Place(
        image=image,
        placement=placement,
        field=field,
        linear=linear,
        fill_value=float(fill_value),
        smooth=smooth,
    )
    return made.value("HWC")
