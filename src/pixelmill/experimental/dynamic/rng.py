"""Random number generators for operators that run immediately."""

from __future__ import annotations

import json
import os

from pixelmill.errors import ArgumentError
from pixelmill.pipeline.permutation import fold


class RNG:
    """A source of seeds: each random operator that uses it takes the next one.

    Args:
        seed: Seed of the sequence; random if None.
        state: A position to continue from, as `state` returned it.
    """

    def __init__(self, seed: int | None = None, state: object = None) -> None:
        if seed is not None and state is not None:
            raise ArgumentError("RNG: pass either seed or state")
        self.seed = int.from_bytes(os.urandom(6), "little") if seed is None else int(seed)
        self.drawn = 0
        if state is not None:
            self.set_state(state)

    def __call__(self) -> int:
        """Return a random number of 32 bits."""
        return self.next_seed() & 0xFFFFFFFF

    def next_seed(self) -> int:
        """Return the seed for the next operator."""
        self.drawn += 1
        return fold(self.seed, self.drawn) >> 1

    def advance(self, n: int) -> None:
        """Skip `n` numbers."""
        if n < 0:
            raise ArgumentError(f"RNG: cannot go back by {-n} numbers")
        self.drawn += n

    def clone(self) -> RNG:
        """Return an RNG that continues with the same sequence."""
        return RNG(state=self.get_state())

    def get_state(self) -> str:
        """Return the position, as text."""
        return json.dumps([self.seed, self.drawn])

    def set_state(self, value: object) -> None:
        """Continue from a position that `get_state` returned."""
        try:
            seed, drawn = json.loads(str(value))
            self.seed, self.drawn = int(seed), int(drawn)
        except (ValueError, TypeError):
            raise ArgumentError(f"RNG: {str(value)[:80]!r} is not a state of an RNG") from None

    state = property(get_state, set_state, doc="The position in the sequence.")

    def __repr__(self) -> str:
        return f"RNG(state={self.state!r})"


_default = RNG()


def get_default_rng() -> RNG:
    """Return the generator that operators use without `rng`."""
    return _default


def set_seed(seed: int) -> None:
    """Restart the generator that operators use without `rng`."""
    _default.seed, _default.drawn = int(seed), 0
