"""The actors of a `RayWorkers`: started, asked whether they are ready, and replaced when they are lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from pixelmill.errors import EngineError
from pixelmill.log import log
from pixelmill.ray.actor import PipelineActor
from pixelmill.ray.shared_memory import Loans, Proof, is_here

Reference = Any  # a `ray.ObjectRef`
_MOST_FAILED_STARTS = 3


@dataclass(eq=False)
class Member:
    """One actor.

    Attributes:
        handle: The actor.
        started: The reference that is there when the actor has started.
        is_ready: Whether it has started.
        process: Its process, if it shares memory with this one.
        number: Another number for each actor.
    """

    handle: Any
    started: Reference
    is_ready: bool = False
    process: int | None = None
    number: int = field(default_factory=count().__next__)


@dataclass(eq=False)
class Crew:
    """Actors that all do the same.

    Attributes:
        ray: The module.
        threads: How many samples an actor processes at the same time; it takes as many CPUs.
        in_flight: The most batches of a pipeline that an actor has at a time.
        resources: Other resources of Ray that an actor takes.
        timeout: How many seconds to wait for an actor if there is none.
        loans: What is in the memory of actors on this host; None to get all batches through the object store.
        members: The actors.
    """

    ray: Any
    threads: int
    in_flight: int
    resources: Mapping[str, float]
    timeout: float
    loans: Loans | None
    members: list[Member] = field(default_factory=list)
    _failed_starts: int = 0

    def start(self, count: int) -> None:
        """Start actors. Those that the cluster has no room for start when there is room."""
        remote = self.ray.remote(
            num_cpus=self.threads,
            resources=dict(self.resources),
            # Batches overlap: one is computed while the result of another one is stored.
            max_concurrency=self.in_flight,
            max_restarts=0,
            scheduling_strategy="SPREAD",
        )(PipelineActor)
        for _ in range(count):
            handle = remote.remote(self.threads)
            self.members.append(Member(handle, handle.ready.remote()))

    def idlest(self, loads: Mapping[Member, int]) -> Member | None:
        """Return the actor with the least work; None if all that have started have enough.

        Args:
            loads: The batches that each has, if it has some. Other pipelines that share the actors are not counted:
                they may never take what they have started.
        """
        free = [member for member in self._ready() if loads.get(member, 0) < self.in_flight]
        return min(free, key=lambda member: loads.get(member, 0), default=None)

    def _ready(self) -> list[Member]:
        starting = {member.started: member for member in self.members if not member.is_ready}
        if starting:
            ended, _ = self.ray.wait(list(starting), num_returns=len(starting), timeout=0)
            for reference in ended:
                self._welcome(starting[reference])
        return [member for member in self.members if member.is_ready]

    def _welcome(self, member: Member) -> None:
        try:
            proof: Proof | None = self.ray.get(member.started)
        except self.ray.exceptions.RayError as error:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise EngineError(
                    f"ray: {self._failed_starts} actors in a row did not start; is pixelmill installed on all "
                    f"nodes?\n{error}"
                ) from error
            self.replace(member, str(error))
        else:
            member.is_ready, self._failed_starts = True, 0
            if self.loans is not None and proof is not None and is_here(proof):
                member.process = proof.process

    def wait_for_all(self) -> None:
        """Wait until all actors have started."""
        while len(self._ready()) < len(self.members):
            self.wait([])

    def wait(self, running: Sequence[Reference]) -> None:
        """Wait until an actor has started or a batch has ended.

        Raises:
            EngineError: Nothing happened for a long time.
        """
        starting = [member.started for member in self.members if not member.is_ready]
        ended, _ = self.ray.wait([*starting, *running], num_returns=1, timeout=self.timeout)
        if not ended:
            has = self.ray.cluster_resources()
            needs = {"CPU": float(self.threads), **self.resources}
            raise EngineError(
                f"ray: no actor has started within {self.timeout:g} seconds. Each needs {_listed(needs)}; the cluster "
                f"has {_listed({name: has.get(name, 0.0) for name in needs})}, which others may use"
            )

    def replace(self, member: Member, why: str) -> None:
        """Start another actor in place of one that is lost."""
        if member not in self.members:  # several of its batches have noticed
            return
        log.warning("pixelmill: an actor was lost, another one is started: %s", why.strip().partition("\n")[0])
        self.members.remove(member)
        self._end(member)
        self.start(1)

    def close(self) -> None:
        """End the actors."""
        for member in self.members:
            self._end(member)
        self.members.clear()

    def _end(self, member: Member) -> None:
        if self.loans is not None:
            self.loans.forget(member.number)
        try:
            self.ray.kill(member.handle)
        except (self.ray.exceptions.RayError, RuntimeError) as error:  # it has ended, or the connection has
            log.debug("pixelmill: an actor was not ended: %s", error)


def _listed(resources: Mapping[str, float]) -> str:
    return ", ".join(f"{amount:g} {name}" for name, amount in resources.items())
