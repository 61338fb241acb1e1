"""What happens to bad samples: raise an error, replace them by other samples, or fill in gray images."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal

import numpy as np

from pixelmill.amounts import counted
from pixelmill.engine.compile import Key
from pixelmill.engine.native import Array, Data, Result, Samples, Trouble
from pixelmill.engine.selection import Engine
from pixelmill.errors import NOTES, ArgumentError, DataError, Event, SampleArgumentError
from pixelmill.pipeline.sampling import ReaderOrder, replacement

Action = Literal["raise", "skip", "fill"]
OnError = Action | Callable[[Event], Action]

ACTIONS = ("raise", "skip", "fill")
ATTEMPTS = 16  # other samples that are tried in place of a bad one before giving up
MAX_LISTED = 8  # events in one message
MAX_EVENTS = 10_000  # events that are kept


class Errors:
    """Everything that happened to samples so far.

    Attributes:
        counts: The number of events of each kind.
        events: The latest events, oldest first.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.events: deque[Event] = deque(maxlen=MAX_EVENTS)

    def add(self, event: Event) -> None:
        """Add an event."""
        self.counts[event.kind] += 1
        self.events.append(event)

    def __len__(self) -> int:
        return sum(self.counts.values())

    def __repr__(self) -> str:
        return f"Errors({dict(self.counts)})"


class Recovery:
    """Applies the policy for bad samples to finished batches.

    Args:
        on_error: `raise`, `skip` (another sample takes its place), `fill` (a gray image does), or a callable that takes
            the event and returns one of these.
        max_errors: How many bad samples an epoch may have: a number, or a fraction of all samples if it is below 1.
        strict: Kinds of notes to treat as errors, such as `decoder_warning`.
    """

    def __init__(self, on_error: OnError, max_errors: int | float | None, strict: Sequence[str]) -> None:
        if not callable(on_error) and on_error not in ACTIONS:
            raise ArgumentError(f"on_error must be one of {', '.join(ACTIONS)} or a callable, got {on_error!r}")
        if max_errors is not None and not max_errors >= 0:
            raise ArgumentError(f"max_errors must not be negative, got {max_errors!r}")
        unknown = sorted(set(strict) - set(NOTES.values()))
        if unknown:
            raise ArgumentError(f"strict must contain only {', '.join(NOTES.values())}, got {unknown[0]!r}")
        self.on_error = on_error
        self.max_errors = max_errors
        self.strict = frozenset(strict)
        self.errors = Errors()
        self._epoch = 0
        self._bad = 0

    def fresh_copy(self) -> Recovery:
        """Return a copy that counts errors from zero and adds to the same list of events."""
        other = Recovery(self.on_error, self.max_errors, tuple(self.strict))
        other.errors = self.errors
        return other

    def settle(
        self, result: Result, samples: Samples, engine: Engine, orders: Sequence[ReaderOrder], *, resumed: bool
    ) -> tuple[Result, Array]:
        """Return a result without bad samples, and which samples were not filled in.

        Training must not depend on which batch happened to contain a bad sample: a replaced sample is the same whenever
        its original is bad in an epoch, and the good samples of the batch keep their places and their random numbers.

        Args:
            result: The result of the engine.
            samples: The samples of the batch.
            engine: The engine, to run other samples.
            orders: The orders of the readers.
            resumed: Whether this batch has raised an error before; its bad samples are then skipped.
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
        actions = {place: "skip" if resumed else self._action(event) for place, event in bad.items()}
        if not resumed:
            self._count(bad, orders, int(samples.epochs[0]))
        raised = [bad[place] for place, action in actions.items() if action == "raise"]
        if raised:
            kind = SampleArgumentError if raised[0].kind == "argument" else DataError
            raise kind(f"{_listed(raised)}\n  {_advice(raised[0])}", tuple(raised))
        for action in ("skip", "fill"):
            places = [place for place, wanted in actions.items() if wanted == action]
            if not places:
                continue
            if action == "skip":
                samples, made = self._replaced(samples, places, engine, orders, bad)
            else:
                made = _run(engine, _subset(samples, places), fill=True)
                _raise_if_failed(made, bad[places[0]])
                valid[places] = False
            result = _merged(result, places, made) if result.outputs else Result([], result.troubles)
        # A graph of several programs stops at the first one with a bad sample, so no sample of the batch has outputs.
        # The batch then runs again as a whole, with the replaced samples.
        if not result.outputs:
            result = _run(engine, samples, fill=not valid.all())
            _raise_if_failed(result, next(iter(bad.values())))
        return result, valid

    def _event(self, trouble: Trouble, samples: Samples, engine: Engine) -> Event:
        path = offset = None
        number = int(samples.numbers[trouble.place])
        if engine.plan.readers:
            partners = [reader.partner for reader in engine.plan.readers]
            column = partners.index(trouble.partner) if trouble.partner in partners else 0
            number = int(samples.items[trouble.place, column])
            path, offset = engine.plan.readers[column].index.locate(number)
        return Event(
            kind=trouble.kind,
            message=trouble.message,
            sample=number,
            epoch=int(samples.epochs[trouble.place]),
            path=path,
            offset=offset,
            operator=None if trouble.origin is None else trouble.origin.operator,
            line=None if trouble.origin is None else trouble.origin.line,
            fatal=trouble.fatal or trouble.kind in self.strict,
        )

    def _action(self, event: Event) -> str:
        action = self.on_error(event) if callable(self.on_error) else self.on_error
        if action not in ACTIONS:
            raise ArgumentError(f"on_error: the callable must return one of {', '.join(ACTIONS)}, got {action!r}")
        # A wrong argument is a mistake in the program, and not a bad sample that may be skipped.
        return "raise" if event.kind == "argument" else action

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
                f"{self._bad} bad samples in epoch {epoch}, but max_errors allows {most:g}; the last one was\n{last}",
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
        """Find other samples in place of bad ones; run them and return them with the samples of the batch."""
        if not orders:
            event = bad[places[0]]
            raise DataError(f"{event}\n  without a reader, samples cannot be skipped; use on_error='fill'", (event,))
        good: dict[int, list[Array]] = {}
        own = {place: int(samples.items[place, 0]) for place in places}
        for attempt in range(ATTEMPTS):
            missing = [place for place in places if place not in good]
            samples = _with_others(samples, missing, orders, attempt, own)
            good |= self._usable(engine, samples, missing)
            if len(good) == len(places):
                outputs = [[good[place][index] for place in places] for index in range(len(engine.plan.outputs))]
                return samples, Result(list(outputs), [])
        event = bad[places[0]]
        raise DataError(f"{event}\n  {ATTEMPTS} other samples were tried in its place, and all are bad", (event,))

    def _usable(self, engine: Engine, samples: Samples, places: list[int]) -> dict[int, list[Array]]:
        """Run some samples of a batch; return the outputs of those that are good."""
        while places:
            made = _run(engine, _subset(samples, places))
            failed = {trouble.place for trouble in made.troubles if trouble.fatal or trouble.kind in self.strict}
            rows = [row for row in range(len(places)) if row not in failed]
            if made.outputs or not failed:
                return {places[row]: [data[row] for data in made.outputs] for row in rows}
            places = [places[row] for row in rows]  # a bad sample stopped the others as well: run those again
        return {}


@lru_cache(8)
def _all_valid(count: int) -> Array:
    valid = np.ones(count, bool)
    valid.flags.writeable = False  # the cache returns the same array for many batches
    return valid


def _with_others(
    samples: Samples, places: list[int], orders: Sequence[ReaderOrder], attempt: int, own: dict[int, int]
) -> Samples:
    numbers, items = samples.numbers.copy(), samples.items.copy()
    for place in places:
        epoch = int(samples.epochs[place])
        for column, order in enumerate(orders):
            # Readers of the same length are read side by side (images and masks): they get the same replacement.
            same = order.length == orders[0].length
            source = own[place] if same else int(samples.items[place, column])
            items[place, column] = other = replacement(order, epoch, source, attempt)
            if order.partner is not None:  # a sample with a bad partner is replaced with all of its partners
                items[place, column] = order.partner_items(np.array([other]), samples.epochs[[place]])[0]
        numbers[place] = items[place, 0]
    return replace(samples, numbers=numbers, items=items)


def _subset(samples: Samples, places: list[int]) -> Samples:
    inputs: dict[Key, Data] = {key: [data[place] for place in places] for key, data in samples.inputs.items()}
    return Samples(samples.epochs[places], samples.numbers[places], samples.items[places], inputs)


def _run(engine: Engine, samples: Samples, *, fill: bool = False) -> Result:
    return engine.submit(samples, fill=fill).result()


def _raise_if_failed(result: Result, event: Event) -> None:
    if any(trouble.fatal for trouble in result.troubles):
        raise DataError(f"{event}\n  {result.troubles[0].message}", (event,))


def _merged(result: Result, places: list[int], made: Result) -> Result:
    """Put new samples into the places of bad ones; a batch of one array becomes a list if their shapes differ."""
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
    """Return the first events as lines, and how many more there are.

    A wrong argument is a mistake of the program, which each sample would repeat; bad samples are named one by one.
    """
    first = {event.message if event.kind == "argument" else event: event for event in reversed(events)}
    shown = list(first.values())[::-1][:MAX_LISTED]
    more = len(events) - len(shown)
    return "\n".join([*map(str, shown), *([f"and {counted(more, 'more sample')}"] if more else [])])


def _advice(event: Event) -> str:
    if event.kind == "argument" and event.path is not None and "1 axes do not fit" in event.message:
        return "its input has one axis, like the bytes of a file: is fn.decoders.image missing before this operator?"
    if event.kind == "argument":
        return "the arguments of this operator are not valid for this sample"
    return "on_error='skip' replaces bad samples and lists them in Pipeline.errors; the next run() continues that way"
