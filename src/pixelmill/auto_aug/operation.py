"""Operations on pictures whose strength is a number, the magnitude, chosen from bins."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from pixelmill import fn, types
from pixelmill.errors import ArgumentError
from pixelmill.graph.branches import converted
from pixelmill.graph.calls import as_node
from pixelmill.graph.nodes import DataNode

Array = np.ndarray[Any, Any]
MagnitudeRange = tuple[float, float] | Array

# In the place of an argument that was not given, where None means something.
_KEPT: Any = object()

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


@dataclass(frozen=True, eq=False)
class SignedBin:
    """A magnitude bin and whether the magnitude is negated, for one operation or for several in a row.

    Attributes:
        bin: The number of the magnitude.
        random_sign: 1 where the magnitude is negated, 0 where it is not.
        signed_magnitude_idx: Twice the number, and one more where the magnitude is negated.
    """

    bin: int | DataNode
    random_sign: DataNode
    signed_magnitude_idx: DataNode

    def __getitem__(self, index: int) -> SignedBin:
        """Give the bin and the sign of one of several operations; a bin that is a number is that of all."""
        number = self.bin if isinstance(self.bin, int) else self.bin[index]
        return SignedBin(number, self.random_sign[index], self.signed_magnitude_idx[index])


def signed_bin(
    magnitude_bin: int | DataNode,
    random_sign: DataNode | None = None,
    seed: int | None = None,
    shape: Sequence[int] | None = None,
) -> SignedBin:
    """Add a random sign to a magnitude bin.

    Args:
        magnitude_bin: The number of the magnitude, or a node of such numbers.
        random_sign: A node of zeros and ones, the latter where the magnitude is negated; drawn when left out.
        seed: A seed for the draw.
        shape: The shape of the draw, for several operations in a row.
    """
    if isinstance(magnitude_bin, bool) or not isinstance(magnitude_bin, (int, DataNode)):
        raise ArgumentError(f"signed_bin: magnitude_bin must be a whole number or a node, got {magnitude_bin!r}")
    if random_sign is not None and (seed is not None or shape is not None):
        raise ArgumentError("signed_bin: random_sign is given, so there is nothing to draw with seed and shape")
    if random_sign is None:
        random_sign = fn.random.uniform(values=[0, 1], dtype=types.INT32, seed=seed, shape=shape)
    return SignedBin(magnitude_bin, random_sign, magnitude_bin * 2 + random_sign)


@dataclass(frozen=True, eq=False)
class Augmentation:
    """An operation on pictures whose parameter follows from a magnitude. `augmentation` makes it from a function.

    Attributes:
        op: Takes pictures, the parameter, and perhaps more by name.
        mag_range: The magnitudes of the first and the last bin, or an array with one for each; None without magnitudes.
        randomly_negate: Whether magnitudes get a random sign.
        mag_to_param: Turns a magnitude into the parameter.
        param_device: Accepted for compatibility.
        name: Its name in messages and in `excluded`.
    """

    op: Callable[..., Any]
    mag_range: MagnitudeRange | None = None
    randomly_negate: bool | None = None
    mag_to_param: Callable[[Any], npt.ArrayLike] | None = None
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
            raise ArgumentError(f"augmentation {self.name}: the function must take pictures and a parameter")

    def __call__(
        self,
        data: Any,
        *,
        magnitude_bin: int | DataNode | SignedBin | None = None,
        num_magnitude_bins: int | None = None,
        **kwargs: Any,
    ) -> Any:
        """Apply the operation.

        Args:
            data: Pictures.
            magnitude_bin: The number of the magnitude, the same for all samples or a node; perhaps with a sign.
            num_magnitude_bins: How many bins there are.
            kwargs: More arguments; those are handed on that the function has.
        """
        named = self.extra_arguments()
        missing = [
            key for key, parameter in named.items() if parameter.default is parameter.empty and key not in kwargs
        ]
        if missing:
            hint = "; give it the height and width of the pictures" if missing == ["shape"] else ""
            raise ArgumentError(f"augmentation {self.name}: {', '.join(missing)} is missing{hint}")
        given = {key: value for key, value in kwargs.items() if key in named}
        return converted(self.op)(data, self._parameter(magnitude_bin, num_magnitude_bins), **given)

    def augmentation(
        self,
        mag_range: Any = _KEPT,
        randomly_negate: Any = _KEPT,
        mag_to_param: Any = _KEPT,
        param_device: Any = _KEPT,
        name: Any = _KEPT,
        augmentation_cls: type[Augmentation] | None = None,
    ) -> Augmentation:
        """Give the same operation with other settings; those that are left out stay as they are."""
        new = {
            "mag_range": mag_range,
            "randomly_negate": randomly_negate,
            "mag_to_param": mag_to_param,
            "param_device": param_device,
            "name": name,
        }
        settings = {field.name: getattr(self, field.name) for field in dataclasses.fields(Augmentation)}
        settings |= {key: value for key, value in new.items() if value is not _KEPT}
        return (augmentation_cls or type(self))(**settings)

    def extra_arguments(self) -> Mapping[str, inspect.Parameter]:
        """Give the arguments of the function behind pictures and parameter."""
        parameters = inspect.signature(self.op).parameters
        first = [key for key, parameter in parameters.items() if parameter.kind in _POSITIONAL][:2]
        return {key: p for key, p in parameters.items() if key not in first and p.kind in _NAMED}

    def magnitudes(self, num_magnitude_bins: int | None) -> Array | None:
        """Give the magnitude of each bin."""
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

    def _parameter(self, number: int | DataNode | SignedBin | None, bins: int | None) -> Any:
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

    def _at(self, magnitudes: Array, number: int) -> Any:
        if not 0 <= number < len(magnitudes):
            raise ArgumentError(
                f"augmentation {self.name}: magnitude_bin must be from 0 to {len(magnitudes) - 1}, got {number}"
            )
        return magnitudes[number]

    def _table(self, magnitudes: Iterable[Any], *, signed: bool) -> DataNode:
        """Give the parameters of all bins as one constant, signs side by side."""
        all_of_them = [value for m in magnitudes for value in ((m, -m) if signed else (m,))]
        params = [self._param(magnitude) for magnitude in all_of_them]
        if len({(param.shape, param.dtype) for param in params}) > 1:
            raise ArgumentError(f"augmentation {self.name}: mag_to_param gave arrays of different shapes or types")
        return as_node(types.Constant(np.stack(params)))

    def _param(self, magnitude: Any) -> Array:
        assert self.mag_to_param is not None
        param = self.mag_to_param(magnitude)
        if any(isinstance(part, DataNode) for part in (param if isinstance(param, (list, tuple)) else [param])):
            raise ArgumentError(
                f"augmentation {self.name}: mag_to_param gave a node; it must give numbers or arrays, "
                "because it is called for every magnitude when the graph is built"
            )
        return np.asarray(param)
