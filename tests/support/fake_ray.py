"""Stands in for the module `ray`: actors live in this process, and die when the test says so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any


class RayError(Exception):
    """As `ray.exceptions.RayError`."""


class RayTaskError(RayError):
    """As `ray.exceptions.RayTaskError`, with the error of the task in `cause`."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(str(cause))
        self.cause = cause


@dataclass(eq=False)
class Reference:
    """A result. It is computed when it is asked for; a slow one is never there before."""

    actor: FakeActor
    compute: Callable[[], object]
    is_slow: bool


@dataclass(eq=False)
class FakeActor:
    """An actor.

    Attributes:
        made: The object that it holds; None as long as there is no room for it.
        is_dead: Whether it is lost.
        runs: How many batches it was given.
    """

    owner: FakeRay
    made: Any
    is_dead: bool = False
    runs: int = 0

    def __getattr__(self, name: str) -> SimpleNamespace:
        def remote(*arguments: Any) -> Reference:
            self.runs += name == "run"
            if name == "run":
                self.owner.on_run(self)
            return Reference(self, lambda: getattr(self.made, name)(*arguments), is_slow=name == "run")

        return SimpleNamespace(remote=remote)


@dataclass(eq=False)
class FakeRay:
    """The module, as far as it is used.

    Attributes:
        room: How many actors the cluster can hold; others wait until there is room.
        on_run: Called when an actor is given a batch.
    """

    room: int = 100
    on_run: Callable[[FakeActor], object] = lambda actor: None
    actors: list[FakeActor] = field(default_factory=list)
    exceptions: SimpleNamespace = field(
        default_factory=lambda: SimpleNamespace(RayError=RayError, RayTaskError=RayTaskError)
    )

    def remote(self, **options: Any) -> Callable[[type], SimpleNamespace]:
        self.options = options

        def declared(kind: type) -> SimpleNamespace:
            def start(*arguments: Any) -> FakeActor:
                self.actors.append(FakeActor(self, kind(*arguments)))
                return self.actors[-1]

            return SimpleNamespace(remote=start)

        return declared

    def is_running(self, actor: FakeActor) -> bool:
        living = [other for other in self.actors if not other.is_dead]
        return actor in living[: self.room]

    def put(self, value: object) -> object:
        return value

    def wait(
        self, references: Sequence[Reference], *, num_returns: int, timeout: float | None = None
    ) -> tuple[list[Reference], list[Reference]]:
        assert len(references) >= num_returns
        assert len(set(references)) == len(references)
        slow = timeout != 0
        running = [one for one in references if self.is_running(one.actor) and (slow or not one.is_slow)]
        there = [one for one in references if one.actor.is_dead or one in running][:num_returns]
        for one in there:
            one.is_slow = False  # it was waited for
        return there, [one for one in references if one not in there]

    def get(self, reference: Reference) -> object:
        if reference.actor.is_dead:
            raise RayError("the actor died")
        assert self.is_running(reference.actor), "waits forever"
        try:
            return reference.compute()
        except Exception as error:
            raise RayTaskError(error) from error

    def kill(self, actor: FakeActor) -> None:
        actor.is_dead = True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": float(self.room)}
