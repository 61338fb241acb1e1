"""What becomes of samples that cannot be used."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from pixelmill.engine.compile import Key
from pixelmill.engine.native import Array, Data, Result, Samples, Trouble
from pixelmill.engine.selection import Engine
from pixelmill.errors import NOTES, ArgumentError, DataError, Event
from pixelmill.pipeline.sampling import ReaderOrder, replacement

Choice = Literal["raise", "skip", "fill"]
OnError = Choice | Callable[[Event], Choice]

CHOICES = ("raise", "skip", "fill")
ATTEMPTS = 16  # other samples that are tried for a bad one before giving up
MOST_LISTED = 8  # in one message
KEPT_EVENTS = 10_000


class Errors:
    """Everything that happened to samples so far.

    Attributes:
        counts: How often each kind happened.
        events: The latest of them, oldest first.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.events: deque[Event] = deque(maxlen=KEPT_EVENTS)

    def add(self, event: Event) -> None:
        """Write an event down."""
        self.counts[event.kind] += 1
        self.events.append(event)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __repr__(self) -> str:
        return f"Errors({dict(self.counts)})"


class Recovery:
    """Applies the policy for bad samples to finished batches.

    Args:
        on_error: `raise`, `skip` (another sample takes the place), `fill` (a grey picture takes it), or a callable that
            gets the event and gives one of these.
        max_errors: How many bad samples an epoch may have: a number, or a share below 1 of all samples.
        strict: Kinds of notes to be treated as errors, such as `decoder_warning`.
    """

    def __init__(self, on_error: OnError, max_errors: int | float | None, strict: Sequence[str]) -> None:
        if not callable(on_error) and on_error not in CHOICES:
            raise ArgumentError(f"on_error must be one of {', '.join(CHOICES)} or a callable, got {on_error!r}")
        if max_errors is not None and not max_errors >= 0:
            raise ArgumentError(f"max_errors must not be negative, got {max_errors!r}")
        unknown = sorted(set(strict) - set(NOTES.values()))
        if unknown:
            raise ArgumentError(f"strict: there is no note {unknown[0]!r}, only {', '.join(NOTES.values())}")
        self.on_error = on_error
        self.max_errors = max_errors
        self.strict = frozenset(strict)
        self.errors = Errors()
        self._epoch = 0
        self._bad = 0

    def anew(self) -> Recovery:
        """Give one that counts from the beginning, and adds to the same list of events."""
        other = Recovery(self.on_error, self.max_errors, tuple(self.strict))
        other.errors = self.errors
        return other

    def settle(
        self, result: Result, samples: Samples, engine: Engine, orders: Sequence[ReaderOrder], *, resumed: bool
    ) -> tuple[Result, Array]:
        """Give a result in which every place is filled, and which of them hold their own sample.

        Args:
            result: What the engine gave.
            samples: Who was in the batch.
            engine: The engine, to run other samples.
            orders: The orders of the readers.
            resumed: Whether this batch has raised already; its bad samples are then skipped.
        """
        bad: dict[int, Event] = {}
        for trouble in result.troubles:
            event = self._event(trouble, samples, engine)
            if not resumed:
                self.errors.add(event)
            if event.fatal:
                bad.setdefault(trouble.place, event)
        if not bad:
            return result, _all_valid(len(samples))
        valid = np.ones(len(samples), bool)
        choices = {place: "skip" if resumed else self._choose(event) for place, event in bad.items()}
        if not resumed:
            self._count(bad, orders, int(samples.epochs[0]))
        raised = [bad[place] for place, choice in choices.items() if choice == "raise"]
        if raised:
            raise DataError(f"{_listed(raised)}\n  {_advice(raised[0])}", tuple(raised))
        for choice in ("skip", "fill"):
            places = [place for place, chosen in choices.items() if chosen == choice]
            if not places:
                continue
            if choice == "skip":
                samples, made = self._replaced(samples, places, engine, orders, bad)
            else:
                made = _run(engine, _chosen(samples, places), fill=True)
                _insist(made, bad[places[0]])
                valid[places] = False
            result = _merged(result, places, made) if result.outputs else Result([], result.troubles)
        if not result.outputs:  # the batch had to stop in the middle of the graph
            result = _run(engine, samples, fill=not valid.all())
            _insist(result, next(iter(bad.values())))
        return result, valid

    def _event(self, trouble: Trouble, samples: Samples, engine: Engine) -> Event:
        path = offset = None
        if engine.plan.readers:
            path, offset = engine.plan.readers[0].index.locate(int(samples.items[trouble.place, 0]))
        return Event(
            kind=trouble.kind,
            message=trouble.message,
            sample=int(samples.numbers[trouble.place]),
            epoch=int(samples.epochs[trouble.place]),
            path=path,
            offset=offset,
            operator=None if trouble.origin is None else trouble.origin.operator,
            line=None if trouble.origin is None else trouble.origin.line,
            fatal=trouble.fatal or trouble.kind in self.strict,
        )

    def _choose(self, event: Event) -> str:
        choice = self.on_error(event) if callable(self.on_error) else self.on_error
        if choice not in CHOICES:
            raise ArgumentError(f"on_error: the callable gave {choice!r}, not one of {', '.join(CHOICES)}")
        return "raise" if event.kind == "argument" else choice

    def _count(self, bad: dict[int, Event], orders: Sequence[ReaderOrder], epoch: int) -> None:
        if epoch != self._epoch:
            self._epoch, self._bad = epoch, 0
        self._bad += len(bad)
        length = orders[0].length if orders else 0
        most = max(100.0, 0.001 * length) if self.max_errors is None else float(self.max_errors)
        if 0 < most < 1:
            most *= length
        if self.on_error != "raise" and self._bad > most:
            last = next(reversed(bad.values()))
            raise DataError(
                f"{self._bad} bad samples in epoch {epoch}, and max_errors allows {most:g}; the last one was\n{last}",
                tuple(bad.values()),
            )

    def _replaced(
        self,
        samples: Samples,
        places: list[int],
        engine: Engine,
        orders: Sequence[ReaderOrder],
        bad: dict[int, Event],
    ) -> tuple[Samples, Result]:
        """Find other samples for bad ones: the same whenever this sample is bad in this epoch."""
        if not orders:
            event = bad[places[0]]
            raise DataError(f"{event}\n  only samples of readers can be skipped; use on_error='fill' here", (event,))
        good: dict[int, list[Array]] = {}
        for attempt in range(ATTEMPTS):
            missing = [place for place in places if place not in good]
            samples = _with_others(samples, missing, orders, attempt, bad)
            good |= self._usable(engine, samples, missing)
            if len(good) == len(places):
                outputs = [[good[place][index] for place in places] for index in range(len(engine.plan.outputs))]
                return samples, Result(list(outputs), [])
        event = bad[places[0]]
        raise DataError(f"{event}\n  {ATTEMPTS} other samples that could have replaced it are bad as well", (event,))

    def _usable(self, engine: Engine, samples: Samples, places: list[int]) -> dict[int, list[Array]]:
        """Run some places of a batch; give the outputs of those that are good."""
        while places:
            made = _run(engine, _chosen(samples, places))
            failed = {trouble.place for trouble in made.troubles if trouble.fatal or trouble.kind in self.strict}
            rows = [row for row in range(len(places)) if row not in failed]
            if made.outputs or not failed:
                return {places[row]: [data[row] for data in made.outputs] for row in rows}
            places = [places[row] for row in rows]  # the bad ones kept the others from going on
        return {}


@lru_cache(8)
def _all_valid(count: int) -> Array:
    valid = np.ones(count, bool)
    valid.flags.writeable = False  # many batches share it
    return valid


def _with_others(
    samples: Samples, places: list[int], orders: Sequence[ReaderOrder], attempt: int, bad: dict[int, Event]
) -> Samples:
    numbers, items = samples.numbers.copy(), samples.items.copy()
    for place in places:
        epoch, own = int(samples.epochs[place]), bad[place].sample
        for column, order in enumerate(orders):
            same = order.length == orders[0].length
            source = own if same else int(samples.items[place, column])
            items[place, column] = replacement(order, epoch, source, attempt)
        numbers[place] = items[place, 0]
    return replace(samples, numbers=numbers, items=items)


def _chosen(samples: Samples, places: list[int]) -> Samples:
    inputs: dict[Key, Data] = {key: [data[place] for place in places] for key, data in samples.inputs.items()}
    return Samples(samples.epochs[places], samples.numbers[places], samples.items[places], inputs)


def _run(engine: Engine, samples: Samples, *, fill: bool = False) -> Result:
    return engine.submit(samples, fill=fill).result()


def _insist(result: Result, event: Event) -> None:
    if any(trouble.fatal for trouble in result.troubles):
        raise DataError(f"{event}\n  {result.troubles[0].message}", (event,))


def _merged(result: Result, places: list[int], made: Result) -> Result:
    outputs: list[Data] = []
    for data, other in zip(result.outputs, made.outputs, strict=True):
        merged: Data = data
        if isinstance(data, np.ndarray) and any(other[row].shape != data.shape[1:] for row in range(len(places))):
            merged = list(data)
        for row, place in enumerate(places):
            merged[place] = other[row]
        outputs.append(_block_of(merged))
    return Result(outputs, result.troubles)


def _block_of(data: Data) -> Data:
    return data if isinstance(data, np.ndarray) or len({sample.shape for sample in data}) > 1 else np.stack(data)


def _listed(events: Sequence[Event]) -> str:
    """Write the first events one below the other, and how many more there are."""
    more = [f"and {len(events) - MOST_LISTED} more samples"] if len(events) > MOST_LISTED else []
    return "\n".join([*map(str, events[:MOST_LISTED]), *more])


def _advice(event: Event) -> str:
    if event.kind == "argument":
        return "the arguments of this operator do not fit this sample"
    return (
        "on_error='skip' puts another sample in its place and lists it; the next batch comes as if it had been chosen"
    )
