"""An engine whose batches run in actors."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np

from pixelmill.engine.compile import Plan
from pixelmill.engine.native import Data, Pending, Result, Samples
from pixelmill.engine.worker_thread import CLOSED, WorkerThread
from pixelmill.errors import DataError, EngineError, PixelmillError
from pixelmill.log import log
from pixelmill.pipeline.remote_program import Program, SentTrouble, received
from pixelmill.ray.crew import Crew, Member, Reference
from pixelmill.ray.messages import Request, unpack_answer
from pixelmill.ray.shared_memory import SentData, Ticket, receive
from pixelmill.types import Array

_MOST_LOSSES = 5  # actors that may be lost while they run the same batch


@dataclass(eq=False)
class _Batch:
    """A batch in progress.

    Attributes:
        samples: Its samples, which are all that another actor needs to run it again.
        fill: Whether samples that fail become gray images.
        member: The actor that runs it; None as long as all of them have enough to do.
        reference: Its result.
        ticket: Keeps the result where it is in the memory of the actor; None if it is in the object store.
        is_finished: Whether the result is there.
        made: The result, in the memory of the actor or of the object store.
        failure: The error that ended it.
        losses: How many actors were lost while they ran it.
    """

    samples: Samples
    fill: bool
    member: Member | None = None
    reference: Reference | None = None
    ticket: Ticket | None = None
    is_finished: bool = False
    made: tuple[Sequence[Data], Sequence[SentTrouble]] = ((), ())
    failure: PixelmillError | None = None
    losses: int = 0


class RayEngine:
    """Runs the batches of a pipeline in actors.

    What a batch contains depends on its samples only: their numbers, epochs and items, which are computed here. If an
    actor is lost, other actors run its batches again, with the same result, and the order of batches stays the same.

    Args:
        crew: The actors.
        program: The description of the pipeline.
        plan: Its compiled graph.
        seed: The seed of all random numbers.
    """

    def __init__(self, crew: Crew, program: Program, plan: Plan, *, seed: int) -> None:
        self.plan = plan
        self._crew = crew
        self._ray = crew.ray
        self._program = program
        self._name = program.key, seed
        self._description = self._ray.put(program.description)
        self._taught: set[Member] = set()  # actors that know the description
        self._open: list[_Batch] = []
        self._process = os.getpid()
        self._is_closed = False

    @property
    def threads(self) -> tuple[WorkerThread, ...]:
        """No threads of this process."""
        return ()

    def forked(self) -> bool:
        """Whether this process is a fork of the one that created the engine."""
        return self._process != os.getpid()

    def submit(self, samples: Samples, *, fill: bool = False) -> Pending:
        """Start a batch. With `fill`, samples that fail become gray images instead of errors."""
        if self._is_closed:
            raise EngineError(CLOSED)
        batch = _Batch(samples, fill)
        self._open.append(batch)
        self._assign()
        return Pending(None, partial(self._result, batch))

    def close(self) -> None:
        """Forget the batches in progress. The actors stay for the next engine."""
        self._is_closed = True
        self._open.clear()

    def _assign(self) -> None:
        """Collect what actors have finished, and give batches to actors that have room for them."""
        running = self._running()
        if running:
            ended, _ = self._ray.wait(list(running), num_returns=len(running), timeout=0)
            for reference in ended:
                if running[reference].reference is reference:  # its actor was not found to be lost in the meantime
                    self._collect(running[reference])
        for batch in self._open:
            if batch.reference is None:
                member = self._crew.idlest(Counter(self._members()))
                if member is None:
                    return
                self._start(batch, member)

    def _members(self) -> Iterator[Member]:
        """Yield the actor of each batch that is not finished."""
        return (batch.member for batch in self._open if batch.member is not None and not batch.is_finished)

    def _running(self) -> dict[Reference, _Batch]:
        return {batch.reference: batch for batch in self._open if batch.reference and not batch.is_finished}

    def _start(self, batch: _Batch, member: Member) -> None:
        samples = batch.samples
        number, returned, loans = None, [], self._crew.loans
        batch.ticket = None
        if loans is not None and member.process is not None:
            batch.ticket = loans.ticket(member.number, member.process)
            number, returned = batch.ticket.number, loans.returned(member.number)
        who = samples.epochs, samples.numbers, samples.items
        given: list[object] = [Request(self._name, batch.fill, number, returned, *who).packed()]
        if self.plan.inputs or member not in self._taught:
            given.append([samples.inputs[key] for key in self.plan.inputs])
        if member not in self._taught:
            given.append(self._description)
        batch.reference = member.handle.run.remote(*given)
        batch.member = member

    def _result(self, batch: _Batch) -> Result:
        if self._is_closed:
            raise EngineError(CLOSED)
        while not batch.is_finished:
            self._assign()
            if batch.reference is None:
                self._crew.wait(list(self._running()))
            elif not batch.is_finished:
                self._collect(batch)
        self._open.remove(batch)
        if batch.failure is not None:
            raise batch.failure
        return self._taken(batch)

    def _collect(self, batch: _Batch) -> None:
        """Wait for a batch that an actor runs. What is in shared memory or the object store is not copied."""
        assert batch.member is not None
        try:
            made = self._ray.get(batch.reference)
        except self._ray.exceptions.RayTaskError as error:
            batch.failure = _translated(error)
        except self._ray.exceptions.RayError as error:
            self._lose(batch, error)
            return
        else:
            if made is None:  # the actor has built other programs since, and dropped this one
                self._taught.discard(batch.member)
                self._start(batch, batch.member)
                return
            self._taught.add(batch.member)
            if not self._map(batch, *(unpack_answer(made) if isinstance(made, bytes) else made)):
                return
        batch.is_finished = True

    def _map(self, batch: _Batch, sent: Sequence[SentData], troubles: Sequence[SentTrouble]) -> bool:
        """Map what is in the memory of the actor. If this fails, give the batch back to be run again."""
        member, ticket, loans = batch.member, batch.ticket, self._crew.loans
        assert member is not None
        if ticket is None or loans is None:
            batch.made = cast("Sequence[Data]", sent), troubles
            return True
        try:
            batch.made = receive(sent, ticket, loans), troubles
        except (OSError, ValueError) as error:  # the actor has ended, or this process has too many open files
            log.debug("pixelmill: shared memory of an actor cannot be mapped: %s", error)
            member.process = None
            batch.member = batch.reference = batch.ticket = None
            return False
        return True

    def _lose(self, batch: _Batch, error: Exception) -> None:
        """Replace the actor of a batch. All batches that it has not finished are run by others."""
        member = batch.member
        assert member is not None
        self._crew.replace(member, str(error))
        for other in self._open:
            if other.member is member and not other.is_finished:
                other.losses += 1
                other.member = other.reference = None
        if batch.losses >= _MOST_LOSSES:
            batch.is_finished = True
            batch.failure = EngineError(f"ray: {batch.losses} actors were lost while they ran the same batch\n{error}")

    def _taken(self, batch: _Batch) -> Result:
        (outputs, troubles), ticket = batch.made, batch.ticket
        batch.made, batch.ticket = ((), ()), None  # the arrays alone keep the memory of the actor
        loans = self._crew.loans
        may_keep = ticket is None or loans is None or loans.may_keep(ticket)
        found = [received(trouble, self._program) for trouble in troubles]
        return Result([_owned(data, copy=not may_keep) for data in outputs], found)


def _owned(data: Data, *, copy: bool) -> Data:
    """Copy a batch out of the object store, whose memory is read-only and is needed for the next batches."""
    if isinstance(data, np.ndarray):
        return data.copy() if copy or not data.flags.writeable else data
    return [sample if sample is None else cast("Array", _owned(sample, copy=copy)) for sample in data]


def _translated(error: Any) -> PixelmillError:
    """Return the error that an actor raised as one of ours."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, DataError):
        return DataError(str(cause), cause.events)
    if isinstance(cause, PixelmillError):
        return cause
    return EngineError(f"ray: an actor failed\n{error}")
