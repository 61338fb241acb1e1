"""Random values in the arguments of a recipe, and references to earlier ones."""

from __future__ import annotations

import hashlib
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pixelmill import fn, types
from pixelmill import math as node_math
from pixelmill.errors import ArgumentError
from pixelmill.graph.nodes import DataNode

DRAWS = {
    "uniform": "two numbers, the smallest and the largest",
    "normal": "two numbers, the mean and the standard deviation",
    "beta": "two numbers above 0, the parameters of the distribution",
    "coin": "one number, the probability of 1",
    "choice": "a list to choose from",
    "integers": "two integers, the smallest and the largest",
    "log_uniform": "two numbers above 0, the smallest and the largest",
    "permutation": "an integer from 1 to 5: so many numbers from 0, in any order",
}
NAME, REFERENCE = "as", "ref"
_OPTIONS = {"choice": {"weights"}}


class Draws:
    """Creates the random values of one recipe and remembers those that have a name.

    Args:
        seed: Seed of the random numbers, in addition to the sample and the epoch.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._named: dict[str, DataNode] = {}

    def seed(self, step: str, what: str) -> int:
        """Return a seed for one random argument, independent of the arguments of other steps."""
        # Not `hash()`, which differs from process to process.
        digest = hashlib.sha256(f"{self._seed}/{step}/{what}".encode()).digest()
        return int.from_bytes(digest[:6], "little")

    def value(self, value: object, step: str, argument: str) -> object:
        """Return an argument: a constant unchanged, or a node for a random number such as `{uniform: [-10, 10]}`."""
        if isinstance(value, list) and any(isinstance(item, Mapping) for item in value):
            items = [self.value(item, step, f"{argument}[{place}]") for place, item in enumerate(value)]
            return fn.stack(*(fn.cast(_node(item), dtype=types.FLOAT) for item in items))
        if not isinstance(value, Mapping):
            return value
        if REFERENCE in value:
            return self._reference(value)
        given = dict(value)
        name = given.pop(NAME, None)
        kind = next((key for key in given if key in DRAWS), None)
        if kind is None or given.keys() - {kind} - _OPTIONS.get(kind, set()):
            known = "; ".join(f"{key}: {what}" for key, what in DRAWS.items())
            raise ArgumentError(f"{dict(value)!r} is not a random value; available: {known}")
        node = _drawn(kind, given[kind], given.get("weights"), self.seed(step, argument))
        if name is not None:
            self._remember(name, node)
        return node

    def _remember(self, name: object, node: DataNode) -> None:
        if not isinstance(name, str) or not name.isidentifier():
            raise ArgumentError(f"the name of a random value must be a word, got {name!r}")
        if name in self._named:
            raise ArgumentError(f"two random values are named {name!r}")
        self._named[name] = node

    def _reference(self, value: Mapping[str, object]) -> DataNode:
        """Return an earlier random value, multiplied by `times` and increased by `plus`."""
        unknown = sorted(str(key) for key in value.keys() - {REFERENCE, "times", "plus"})
        if unknown:
            raise ArgumentError(f"a reference takes ref, times and plus, got {unknown[0]!r}")
        name = value[REFERENCE]
        if name not in self._named:
            known = ", ".join(sorted(self._named)) or "there are none"
            raise ArgumentError(f"there is no earlier random value named {name!r}; named by `as:` so far: {known}")
        node = self._named[str(name)]
        numbers = {key: value.get(key, neutral) for key, neutral in (("times", 1), ("plus", 0))}
        for key, number in numbers.items():
            if not _is_number(number):
                raise ArgumentError(f"{key} must be a number, got {number!r}")
        if numbers == {"times": 1, "plus": 0}:
            return node
        scaled: DataNode = node * numbers["times"] + numbers["plus"]
        return scaled


def _node(value: object) -> DataNode:
    if isinstance(value, DataNode):
        return value
    if not _is_number(value):
        raise ArgumentError(f"expected a number or a random value, got {value!r}")
    return fn.constant(fdata=float(value))  # type: ignore[arg-type]


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _drawn(kind: str, given: object, weights: object, seed: int) -> DataNode:
    numbers: list[Any] = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    wanted = {"coin": 1, "permutation": 1, "choice": len(numbers)}.get(kind, 2)
    if not all(map(_is_number, numbers)) or len(numbers) != wanted or not numbers:
        raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
    if kind == "coin":
        return fn.random.coin_flip(probability=float(numbers[0]), seed=seed)
    if kind == "choice":
        return _chosen(numbers, weights, seed)
    if kind == "permutation":
        return _permutation(numbers[0], seed)
    first, second = float(numbers[0]), float(numbers[1])
    if kind == "normal":
        return fn.random.normal(mean=first, stddev=second, seed=seed)
    if kind == "beta":
        if min(first, second) <= 0:
            raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
        return fn.random.beta(alpha=first, beta=second, seed=seed)
    if first > second:
        raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
    if kind == "uniform":
        return fn.random.uniform(range=[first, second], seed=seed)
    if kind == "integers":
        if not (first.is_integer() and second.is_integer()):
            raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
        drawn = fn.random.uniform(range=[first, second + 1], seed=seed)
        return node_math.min(fn.cast(node_math.floor(drawn), dtype=types.INT32), int(second))
    if first <= 0:
        raise ArgumentError(f"{kind} needs {DRAWS[kind]}, got {given!r}")
    return node_math.exp(fn.random.uniform(range=[math.log(first), math.log(second)], seed=seed))


def _permutation(count: object, seed: int) -> DataNode:
    if type(count) is not int or not 1 <= count <= 5:
        raise ArgumentError(f"permutation needs {DRAWS['permutation']}, got {count!r}")
    rows = np.array(list(itertools.permutations(range(count))), np.int32)
    table = fn.constant(idata=rows.reshape(-1).tolist(), shape=list(rows.shape))
    drawn: DataNode = table[fn.random.choice(len(rows), seed=seed)]
    return drawn


def _chosen(numbers: list[float], weights: object, seed: int) -> DataNode:
    whole = all(isinstance(item, int) for item in numbers)
    dtype = types.INT32 if whole else types.FLOAT
    values = [float(item) for item in numbers]
    if weights is None:
        return fn.random.uniform(values=values, dtype=dtype, seed=seed)
    index = fn.random.choice(len(values), p=normalized(weights, len(values)), seed=seed)
    table = fn.constant(fdata=values, shape=[len(values)])
    return fn.cast(table[index], dtype=dtype)


def normalized(weights: object, count: int) -> list[float]:
    """Return weights as probabilities. Raises ArgumentError unless there is one number for each choice."""
    if (
        not isinstance(weights, Sequence)
        or isinstance(weights, str)
        or len(weights) != count
        or not all(_is_number(weight) and weight >= 0 for weight in weights)
        or not sum(weights) > 0
    ):
        raise ArgumentError(f"weights must be {count} numbers that are not negative, got {weights!r}")
    return [float(weight) / sum(weights) for weight in weights]
