"""Pipelines stored as JSON: the same batches after a round trip, refusals by name, and no harm from hostile input."""

from __future__ import annotations

import json
import sys
import types as python_types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelmill import ArgumentError, EngineError, Pipeline, fn, pipeline_def, types
from pixelmill.plugin import triton

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import golden_graphs  # noqa: E402
import golden_readers  # noqa: E402
import golden_runs  # noqa: E402

GRAPHS = (*golden_graphs.GRAPHS, *golden_readers.GRAPHS)
OPTIONS: dict[str, Any] = {"batch_size": 4, "num_threads": 1, "device_id": None, "seed": 11}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return golden_runs.make_data(tmp_path_factory.mktemp("golden"))


@pytest.fixture(autouse=True)
def constants_for_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace arrays of the program, which cannot be stored, by constants."""
    original = fn.external_source

    def constant(*, source: Callable[[], Any] | None = None, layout: str | None = None, **options: Any) -> Any:
        if source is None:
            return original(layout=layout, **options)
        return golden_graphs.fn.copy(types.Constant(np.asarray(source()[0]), layout=layout))

    for module in (golden_graphs, golden_readers):
        replaced = python_types.SimpleNamespace(**{name: getattr(fn, name) for name in fn.__all__})  # type: ignore[attr-defined]
        replaced.external_source = constant
        monkeypatch.setattr(module, "fn", replaced)


def made(graph: Any, data: Any) -> Pipeline:
    pipe = Pipeline(**OPTIONS)
    with pipe:
        outputs = graph(data)
        if callable(outputs):
            return outputs(**OPTIONS)
        pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
    return pipe


def batches(pipe: Pipeline) -> list[Any]:
    found = []
    for _ in range(2):
        for batch in pipe.run():
            found.append(
                (batch.layout(), [(a.dtype.str, a.shape, a.tobytes()) for a in map(batch.at, range(len(batch)))])
            )
    pipe.close()
    return found


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: graph.__name__)
def test_a_graph_gives_the_same_batches_after_a_round_trip(graph: Any, data: Any) -> None:
    pipe = made(graph, data)
    try:
        stored = pipe.serialize()
    except ArgumentError as error:
        assert "Python function cannot be stored" in str(error)
        pytest.skip("it calls Python functions")
    other = Pipeline.deserialize(stored)
    assert other.seed == pipe.seed
    assert batches(other) == batches(pipe)
    assert Pipeline.deserialize(stored).serialize() == stored


def test_most_graphs_can_be_stored(data: Any) -> None:
    stored = 0
    for graph in GRAPHS:
        try:
            stored += bool(made(graph, data).serialize())
        except ArgumentError:
            continue
    assert stored >= 0.8 * len(GRAPHS)


# Options and files


@pipeline_def(batch_size=3, num_threads=2, device_id=None, seed=5, prefetch_queue_depth=1)
def doubled() -> Any:
    return fn.external_source(name="numbers", layout="HW") * 2


def run(pipe: Pipeline, count: int = 3) -> list[Any]:
    return pipe.run(numbers=np.arange(count * 2).reshape(count, 1, 2))[0].as_array().ravel().tolist()


def test_options_are_stored_and_can_be_replaced(tmp_path: Path) -> None:
    path = tmp_path / "model.dali"
    stored = doubled().serialize(filename=str(path))
    assert path.read_bytes() == stored
    pipe = Pipeline.deserialize(filename=str(path))
    assert (pipe.max_batch_size, pipe.num_threads, pipe.device_id, pipe.seed) == (3, 2, None, 5)
    assert pipe.prefetch_queue_depth == 1
    assert run(pipe) == [0, 2, 4, 6, 8, 10]
    larger = Pipeline.deserialize(stored, batch_size=5, num_threads=1, seed=8)
    assert (larger.max_batch_size, larger.num_threads, larger.seed) == (5, 1, 8)
    assert len(run(larger, 5)) == 10


def test_deserialize_and_build_takes_the_graph_alone() -> None:
    pipe = Pipeline(2, 1, None, prefetch_queue_depth=1)
    pipe.deserialize_and_build(doubled().serialize())
    assert pipe.max_batch_size == 2 and run(pipe, 2) == [0, 2, 4, 6]


def test_define_graph_may_be_passed() -> None:
    pipe = Pipeline(2, 1, None)
    with pipe:
        stored = pipe.serialize(define_graph=lambda: types.Constant(np.float32([1, 2])))
    assert Pipeline.deserialize(stored).run()[0].as_array().tolist() == [[1, 2], [1, 2]]
    with pytest.raises(TypeError, match="did you mean filename"):
        Pipeline(2, 1, None).serialize("model.dali")


def test_families_draw_the_same_numbers_after_a_round_trip() -> None:
    @pipeline_def(**OPTIONS)
    def graph() -> Any:
        image = types.Constant(np.arange(48, dtype=np.uint8).reshape(4, 4, 3), layout="HWC")
        first, second = fn.random_resized_crop([fn.copy(image), fn.copy(image)], size=4)
        return first, second, fn.random_resized_crop(image, size=4)

    pipe = Pipeline.deserialize(graph().serialize())
    first, second, third = (batch.as_array() for batch in pipe.run())
    np.testing.assert_array_equal(first, second)
    assert (first != third).any()


def test_branches_are_stored() -> None:
    @pipeline_def(enable_conditionals=True, **OPTIONS)
    def graph() -> Any:
        number = fn.random.uniform(range=[0, 1])
        if number > 0.5:  # noqa: SIM108 - conditionals convert statements
            result = number + 10
        else:
            result = -number
        return number, result

    number, result = (batch.as_array() for batch in Pipeline.deserialize(graph().serialize()).run())
    np.testing.assert_allclose(result, np.where(number > 0.5, number + 10, -number), rtol=1e-6)


# Refusals


@pytest.mark.parametrize("kind", ["source", "function"])
def test_functions_of_the_program_are_refused_by_the_name_of_their_operator(kind: str) -> None:
    pipe = Pipeline(**OPTIONS)
    with pipe:
        if kind == "source":
            pipe.set_outputs(fn.external_source(source=lambda: np.zeros((4, 1)), name="Mine"))
        else:
            pipe.set_outputs(fn.python_function(types.Constant(1), function=lambda x: x, name="Mine"))
    with pytest.raises(
        ArgumentError, match=r"serialize: 'Mine' \((external_source|python_function)\): a Python function"
    ):
        pipe.serialize()


def test_a_handler_of_errors_is_refused() -> None:
    pipe = Pipeline(**OPTIONS, on_error=lambda event: "skip")
    with pipe:
        pipe.set_outputs(types.Constant(1))
    with pytest.raises(ArgumentError, match="a Python function cannot be stored"):
        pipe.serialize()


def test_one_source_of_bytes_is_needed() -> None:
    for arguments in ({}, {"serialized_pipeline": b"", "filename": "x"}):
        with pytest.raises(ArgumentError, match="either"):
            Pipeline.deserialize(**arguments)


STORED = json.loads(doubled().serialize())


def changed(**parts: Any) -> bytes:
    return json.dumps({**STORED, **parts}).encode()


HOSTILE = {
    "nothing": b"",
    "no JSON": b"\x08\x01\x12\x05",
    "no dict": b"[]",
    "other format": b'{"format": "onnx"}',
    "newer": changed(version=2),
    "no operators": changed(operators=None),
    "no outputs": changed(outputs=3),
    "unknown operator": changed(operators=[{**STORED["operators"][0], "operator": "os.system"}]),
    "unknown argument": changed(operators=[{**STORED["operators"][0], "arguments": {"command": "x"}}]),
    "an argument of another type": changed(operators=[{**STORED["operators"][0], "arguments": {"num_outputs": "x"}}]),
    "a source": changed(operators=[{**STORED["operators"][0], "arguments": {"source": "os.system"}}]),
    "node that is not there": changed(outputs=[{"node": 7, "output": 0, "device": "cpu"}]),
    "circle": changed(
        operators=[{**STORED["operators"][1], "inputs": [{"node": 0, "output": 0, "device": "cpu"}] * 2}]
    ),
    "family out of order": changed(operators=[{**STORED["operators"][0], "family": 1}, *STORED["operators"][1:]]),
    "unknown enum": changed(outputs=[{"enum": "Path", "name": "home"}]),
    "array of objects": changed(outputs=[{"constant": {"array": "|O", "shape": [1], "data": ""}, "layout": ""}]),
    "array without data": changed(
        outputs=[{"constant": {"array": "<f4", "shape": [10**12], "data": ""}, "layout": ""}]
    ),
    "bad base64": changed(outputs=[{"constant": {"array": "<f4", "shape": [1], "data": "!"}, "layout": ""}]),
    "unknown option": changed(pipeline={**STORED["pipeline"], "shell": "x"}),
    "deep": b'{"format": ' + b"[" * 100_000,
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_is_refused_with_one_error(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"^deserialize: "):
        Pipeline.deserialize(HOSTILE[name])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["node", "output", "device", "constant", "array", "shape", "data", "enum"]), inner
        )
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(
    part=st.sampled_from(["operators", "outputs", "pipeline"]),
    value=JSON,
    index=st.integers(0, 1),
    place=st.integers(0, 7),
)
def test_no_change_raises_another_error(part: str, value: Any, index: int, place: int) -> None:
    stored = json.loads(json.dumps(STORED))
    if part == "operators":
        key = list(stored["operators"][index])[place]
        stored["operators"][index][key] = value
    else:
        stored[part] = value
    try:
        Pipeline.deserialize(json.dumps(stored).encode()).close()
    except ArgumentError as error:
        assert str(error).startswith(("deserialize: ", "Pipeline: "))


# Triton


def test_the_marked_pipeline_of_a_module_is_stored(tmp_path: Path) -> None:
    module = python_types.ModuleType("model")
    module.pipe = triton.autoserialize(doubled)  # type: ignore[attr-defined]
    module.other = run  # type: ignore[attr-defined]
    triton.invoke_autoserialize(module, tmp_path / "model.dali")
    assert run(Pipeline.deserialize(filename=str(tmp_path / "model.dali"))) == [0, 2, 4, 6, 8, 10]


def test_modules_need_exactly_one_marked_pipeline(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="found none"):
        triton.invoke_autoserialize(python_types.ModuleType("model"), tmp_path / "model.dali")
    with pytest.raises(TypeError, match="pipeline_def"):
        triton.autoserialize(run)
