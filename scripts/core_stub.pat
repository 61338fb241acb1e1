# What nanobind cannot know about the functions of native/bindings*.cpp: the contents of lists, dicts and callables.

pixelmill._core.Table.__init__:
    \from typing import Any
    def __init__(self, rows: NDArray[Any]) -> None: ...

pixelmill._core.Program.add_constant:
    def add_constant(self, slot: int, value: NDArray[Any]) -> None: ...

pixelmill._core.Program.add_step:
    def add_step(self, kind: str, params: dict[str, Any], inputs: Sequence[int], outputs: Sequence[int]) -> None: ...

pixelmill._core.Batch.outcomes:
    def outcomes(self) -> list[tuple[int, str | None, int, int, str]]: ...

pixelmill._core.Batch.block:
    def block(self, output: int) -> NDArray[Any] | None: ...

pixelmill._core.Batch.value:
    def value(self, output: int, index: int) -> NDArray[Any] | None: ...

pixelmill._core.Executor.submit:
    def submit(self, program: Program, limits: Limits, who: Submission, inputs: Sequence[Sequence[NDArray[Any]]], fill: bool = False) -> Batch: ...

pixelmill._core.set_foreign_decoder:
    \from collections.abc import Callable
    def set_foreign_decoder(decode: Callable[[bytes, str], tuple[NDArray[Any] | None, str, str]]) -> None: ...
