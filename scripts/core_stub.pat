# What nanobind cannot know about functions of native/bindings*.cpp that give Python objects.

pixelmill._core.Batch.outcomes:
    def outcomes(self) -> list[tuple[int, str | None, int, int, str]]: ...

pixelmill._core.Batch.block:
    \from typing import Any
    def block(self, output: int) -> NDArray[Any] | None: ...

pixelmill._core.Batch.value:
    def value(self, output: int, index: int) -> NDArray[Any] | None: ...
