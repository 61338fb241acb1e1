"""Augmentations: operations whose strength is a magnitude, selected by bin."""

from __future__ import annotations

import dataclasses
import enum
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from pixelmill import fn, types
from pixelmill.errors import ArgumentError
from pixelmill.graph.calls import as_node
from pixelmill.graph.conversion import converted
from pixelmill.graph.nodes import DataNode
from pixelmill.types import Array

MagnitudeRange = tuple[float, float] | Array

# A function that augments images: it takes them, the parameter, and optional keyword arguments.
Operation = Callable[..., DataNode]


class _Unset(enum.Enum):
    """Marks a setting that was not passed, where None is a value of its own."""

    KEEP = enum.auto()


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, eq=False)
class SignedBin:
    """A magnitude bin and its sign, for one operation or several in a row.

    Attributes:
        bin: The index of the magnitude.
        random_sign: 1 if the magnitude is negated, 0 if not.
        signed_magnitude_idx: Twice the bin, plus one if the magnitude is negated.
    """

    bin: int | DataNode
    random_sign: DataNode
    signed_magnitude_idx: DataNode

    def __getitem__(self, index: int) -> SignedBin:
        """Return the bin and sign of one of several operations; a constant bin is shared by all."""
        number = self.bin if isinstance(self.bin, int) else self.bin[index]
        return SignedBin(number, self.random_sign[index], self.signed_magnitude_idx[index])


def signed_bin(
    magnitude_bin: int | DataNode,
    random_sign: DataNode | None = None,
    seed: int | None = None,
    shape: Sequence[int] | None = None,
) -> SignedBin:
    """Combine a magnitude bin with a random sign.

    Args:
        magnitude_bin: The index of the magnitude, or a node of indices.
        random_sign: A node of 0 and 1, where 1 negates the magnitude; drawn if None.
        seed: Seed of the draw.
        shape: The shape of the draw, for several operations in a row.
    """
    if isinstance(magnitude_bin, bool) or not isinstance(magnitude_bin, (int, DataNode)):
        raise ArgumentError(f"signed_bin: magnitude_bin must be an integer or a node, got {magnitude_bin!r}")
    if random_sign is not None and (seed is not None or shape is not None):
        raise ArgumentError("signed_bin: seed and shape have no effect if random_sign is given")
    if random_sign is None:
        random_sign = fn.random.uniform(values=[0, 1], dtype=types.INT32, seed=seed, shape=shape)
    return SignedBin(magnitude_bin, random_sign, magnitude_bin * 2 + random_sign)


@dataclass(frozen=True, eq=False)
class Augmentation:
    """An operation on images whose parameter is derived from a magnitude. Created by `augmentation`.

    Attributes:
        op: Takes images, the parameter, and optional keyword arguments.
        mag_range: The magnitudes of the first and the last bin, or an array with one per bin; None for no magnitudes.
        randomly_negate: Whether magnitudes get a random sign.
        mag_to_param: Converts a magnitude to the parameter.
        param_device: Accepted for compatibility.
        name: Its name in messages and in `excluded`.
    """

    op: Operation
    mag_range: MagnitudeRange | None = None
    randomly_negate: bool | None = None
    mag_to_param: Callable[[float], npt.ArrayLike] | None = None
    param_device: str | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        places = [p for p in inspect.signature(self.op).parameters.values() if p.kind in _POSITIONAL]
        defaults = {
            "randomly_negate": False,
            "mag_to_param": np.array,
            "param_device": "cpu",
            "name": getattr(self.op, "__name__", "augmentation"),
        }
        for key, default in defaults.items():
            if not getattr(self, key):
                object.__setattr__(self, key, default)
        if len(places) < 2:
            raise ArgumentError(f"augmentation {self.name}: the function must take images and a parameter")

    def __call__(
        self,
        data: DataNode,
        *,
        magnitude_bin: int | DataNode | SignedBin | None = None,
        num_magnitude_bins: int | None = None,
        **kwargs: object,
    ) -> DataNode:
        """Apply the operation.

        Args:
            data: Images.
            magnitude_bin: The index of the magnitude, the same for all samples or a node; optionally with a sign.
            num_magnitude_bins: The number of bins.
            kwargs: Further arguments; those that the function does not take are ignored.
        """
        named = self.extra_arguments()
        missing = [
            key for key, parameter in named.items() if parameter.default is parameter.empty and key not in kwargs
        ]
        if missing:
            hint = "; pass the height and width of the images" if missing == ["shape"] else ""
            raise ArgumentError(f"augmentation {self.name}: {', '.join(missing)} is missing{hint}")
        given = {key: value for key, value in kwargs.items() if key in named}
        augmented: DataNode = converted(self.op)(data, self._parameter(magnitude_bin, num_magnitude_bins), **given)
        return augmented

    def augmentation(
        self,
        mag_range: MagnitudeRange | _Unset | None = _Unset.KEEP,
        randomly_negate: bool | _Unset | None = _Unset.KEEP,
        mag_to_param: Callable[[float], npt.ArrayLike] | _Unset | None = _Unset.KEEP,
        param_device: str | _Unset | None = _Unset.KEEP,
        name: str | _Unset | None = _Unset.KEEP,
        augmentation_cls: type[Augmentation] | None = None,
    ) -> Augmentation:
        """Return the same operation with other settings; those left out are unchanged."""
        new = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(Augmentation)}
        settings |= {key: value for key, value in new.items() if not isinstance(value, _Unset)}
        return (augmentation_cls or type(self))(**settings)

    def extra_arguments(self) -> Mapping[str, inspect.Parameter]:
        """Return the parameters of the function after images and parameter."""
        parameters = inspect.signature(self.op).parameters
        first = [key for key, parameter in parameters.items() if parameter.kind in _POSITIONAL][:2]
        return {key: p for key, p in parameters.items() if key not in first and p.kind in _NAMED}

    def magnitudes(self, num_magnitude_bins: int | None) -> Array | None:
        """Return the magnitude of each bin."""
        span = self.mag_range
        if span is None:
            return None
        if isinstance(span, np.ndarray):
            if num_magnitude_bins not in (None, len(span)):
                raise ArgumentError(
                    f"augmentation {self.name}: mag_range has {len(span)} magnitudes, "
                    f"but num_magnitude_bins is {num_magnitude_bins}"
                )
            return span
        if num_magnitude_bins is None:
            raise ArgumentError(f"augmentation {self.name}: num_magnitude_bins is missing")
        if not isinstance(span, (list, tuple)) or len(span) != 2:
            raise ArgumentError(
                f"augmentation {self.name}: mag_range must be two numbers (first, last) or an array, got {span!r}"
            )
        return np.linspace(*span, num_magnitude_bins, dtype=np.float32)

    def _parameter(self, number: int | DataNode | SignedBin | None, bins: int | None) -> DataNode | None:
        # `mag_to_param` is Python and must not run per sample. So the parameters of all bins (and signs) become one
        # constant when the graph is built, and a sample only indexes it.
        magnitudes = self.magnitudes(bins)
        if magnitudes is None:
            return None
        if number is None:
            raise ArgumentError(f"augmentation {self.name}: magnitude_bin is missing")
        if self.randomly_negate:
            signed = number if isinstance(number, SignedBin) else signed_bin(number)
            if isinstance(signed.bin, int):
                return self._table([self._at(magnitudes, signed.bin)], signed=True)[signed.random_sign]
            return self._table(magnitudes, signed=True)[signed.signed_magnitude_idx]
        number = number.bin if isinstance(number, SignedBin) else number
        if isinstance(number, int):
            return as_node(types.Constant(self._param(self._at(magnitudes, number))))
        return self._table(magnitudes, signed=False)[number]

    def _at(self, magnitudes: Array, number: int) -> float:
        if not 0 <= number < len(magnitudes):
            raise ArgumentError(
                f"augmentation {self.name}: magnitude_bin must be from 0 to {len(magnitudes) - 1}, got {number}"
            )
        magnitude: float = magnitudes[number]
        return magnitude

    def _table(self, magnitudes: Iterable[float], *, signed: bool) -> DataNode:
        """Return the parameters of all bins as one constant, with the two signs next to each other."""
        all_of_them = [value for m in magnitudes for value in ((m, -m) if signed else (m,))]
        params = [self._param(magnitude) for magnitude in all_of_them]
        if len({(param.shape, param.dtype) for param in params}) > 1:
            raise ArgumentError(f"augmentation {self.name}: mag_to_param returned arrays of different shapes or types")
        return as_node(types.Constant(np.stack(params)))

    def _param(self, magnitude: float) -> Array:
        assert self.mag_to_param is not None
        param = self.mag_to_param(magnitude)
        if any(isinstance(part, DataNode) for part in (param if isinstance(param, (list, tuple)) else [param])):
            raise ArgumentError(
                f"augmentation {self.name}: mag_to_param returned a node; it must return numbers or arrays, "
                "because it is called for every magnitude when the graph is built"
            )
        return np.asarray(param)
