"""Reading YAML files. They may come from a stranger, so size, depth and numbers are limited."""

from __future__ import annotations

from typing import Any

from pixelmill import storage
from pixelmill.errors import ArgumentError, DataError, unreadable

MOST_BYTES = 1 << 16
MOST_LEVELS = 32
_LARGEST_NUMBER = 2**63


def read_yaml(path: str, *, what: str = "recipe", most_bytes: int = MOST_BYTES) -> Any:
    """Read a YAML file of plain values.

    Args:
        path: The file.
        what: What messages call it.
        most_bytes: The largest size.

    Raises:
        ArgumentError: There is no such file, or it is not YAML, uses aliases, or exceeds a limit.
        DataError: Reading failed.
    """
    import yaml

    try:
        data = storage.read_file(path, limit=most_bytes)
    except OSError as error:
        raise unreadable(what, path, error) from None
    except DataError as error:
        raise ArgumentError(f"{what}: {error}") from None
    try:
        _check_tokens(data, path, what)
        content = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError) as error:
        # Not only YAML errors: numbers and dates that cannot be, and bytes that are not text, are ValueErrors.
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{what}: {path} is not YAML: {_problem(error)}") from None
    _check_numbers(content, path, what)
    return content


def _problem(error: Exception) -> str:
    """Return what is wrong with a file in one line, with the number of its line if that is known."""
    mark, problem = getattr(error, "problem_mark", None), getattr(error, "problem", None)
    text = str(problem or error).partition("\n")[0]
    return text if mark is None else f"line {mark.line + 1}, column {mark.column + 1}: {text}"


def _check_tokens(data: bytes, path: str, what: str) -> None:
    """Refuse aliases and deep nesting token by token: PyYAML's time grows with the square of the depth."""
    import yaml

    starts = (
        yaml.FlowSequenceStartToken,
        yaml.FlowMappingStartToken,
        yaml.BlockSequenceStartToken,
        yaml.BlockMappingStartToken,
    )
    ends = (yaml.FlowSequenceEndToken, yaml.FlowMappingEndToken, yaml.BlockEndToken)
    level = 0
    for token in yaml.scan(data):
        if isinstance(token, (yaml.AliasToken, yaml.AnchorToken)):
            raise ArgumentError(f"{what}: {path} uses aliases, which are not allowed")
        level += isinstance(token, starts) - isinstance(token, ends)
        if level > MOST_LEVELS:
            line = token.start_mark.line + 1
            raise ArgumentError(f"{what}: line {line} of {path} is nested more than {MOST_LEVELS} levels deep")


def _check_numbers(value: object, path: str, what: str) -> None:
    """Refuse integers of more than 64 bits, which YAML's `1:30:00` can make as large as the file is long."""
    if isinstance(value, int) and not -_LARGEST_NUMBER <= value < _LARGEST_NUMBER:
        raise ArgumentError(f"{what}: {path} holds a number of more than 64 bits")
    if isinstance(value, dict):
        value = [*value.keys(), *value.values()]
    for item in value if isinstance(value, (list, tuple, set)) else ():
        _check_numbers(item, path, what)
