"""Operators as functions: `fn.resize(images, size=224)`. Derived from the registry, see docs/operators.md."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType

from pixelmill.graph.calls import CallResult, call
from pixelmill.operators import OLDER_FUNCTIONS, REGISTRY, Operator, public_names
from pixelmill.operators.absent import ABSENT, refusal
from pixelmill.operators.families import family


def _function(spec: Operator) -> Callable[..., CallResult]:
    def function(
        *inputs: object,
        device: str | None = None,
        name: str | None = None,
        seed: int | None = None,
        **arguments: object,
    ) -> CallResult:
        if spec.leading and not spec.inputs:
            inputs, arguments = (), {**dict(zip(spec.leading, inputs, strict=False)), **arguments}
        return call(spec, inputs, arguments, device=device, name=name, seed=seed)

    function.__name__ = function.__qualname__ = spec.name.rsplit(".", 1)[-1]
    function.__module__ = ".".join([__name__, *spec.name.split(".")[:-1]])
    function.__doc__ = spec.body.__doc__
    function.__signature__ = spec.signature()  # type: ignore[attr-defined]
    return function


def _offer(path: Sequence[str], operators: dict[str, str]) -> None:
    """Create the functions of a family on first use: programs use few of them, and start-up stays fast."""
    module = family(__name__, path)

    def make(name: str) -> Callable[..., CallResult]:
        if name not in operators:
            return _refusing(".".join([*path, name]))
        *home, current = operators[name].split(".")
        own = (home, current) == ([*path], name)
        function = _function(REGISTRY[operators[name]]) if own else getattr(family(__name__, home), current)
        setattr(module, name, function)
        return function

    inner = [name for name, value in vars(module).items() if isinstance(value, ModuleType)]
    module.__all__ = sorted({*operators, *inner})
    module.__getattr__ = make
    module.__dir__ = lambda: sorted({*vars(module), *operators})


def _refusing(name: str) -> Callable[..., CallResult]:
    """Return a function in place of an operator of DALI that is not here: importing it is no error, a call is."""
    if name not in ABSENT:
        *home, last = name.split(".")
        raise AttributeError(f"module {'.'.join([__name__, *home])!r} has no attribute {last!r}")

    def function(*inputs: object, **arguments: object) -> CallResult:
        raise refusal(name)

    return function


def _families() -> dict[tuple[str, ...], dict[str, str]]:
    """Return the functions of each family with their operators; legacy names map to the same function."""
    families: dict[tuple[str, ...], dict[str, str]] = {}
    for name, operator in {**{name: name for name in public_names()}, **OLDER_FUNCTIONS}.items():
        *path, last = name.split(".")
        family(__name__, path)
        families.setdefault(tuple(path), {})[last] = operator
    for name in ABSENT:
        *path, _ = name.split(".")
        families.setdefault(tuple(path), {})
    return families


for _path, _operators in _families().items():
    _offer(_path, _operators)

# Last: it calls operators, and `pixelmill.fn` must be complete for that.
from pixelmill.fn import _conditional as _conditional  # noqa: E402
