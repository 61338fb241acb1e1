"""Every kind of step: declared once, and what does not fit its declaration is refused by name, in Python and in C++."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Iterator
from enum import Enum
from typing import Any, Literal

import numpy as np
import pytest

from pixelmill import _core
from pixelmill.steps import STEPS, Expr, Step
from pixelmill.steps.batch import BatchExtents, PermuteBatch
from pixelmill.steps.elements import Cast
from pixelmill.steps.fields import Field
from pixelmill.steps.resampling import Resample
from pixelmill.steps.shapes import Choose, Join, Shape, Subscript, Window
from pixelmill.steps.sources import ExternalInput, Features, Reader, Records, TableColumn, constant
from pixelmill.steps.step import RandomKey, lowering
from pixelmill.types import FLOAT, INTERP_LINEAR, DALIDataType, DALIInterpType

KINDS = sorted(STEPS)
NATIVE = [kind for kind in KINDS if STEPS[kind].native]


class Somewhere:
    """An operator, as far as steps know one."""

    operator, line = "anything", None


def value_of(entry: Field) -> Any:
    """Return a value that fits a parameter."""
    if typing.get_origin(entry.hint) is Literal:
        one: Any = typing.get_args(entry.hint)[0]
    elif isinstance(entry.hint, type) and issubclass(entry.hint, Enum):
        one = next(iter(entry.hint))
    else:
        one = {
            bool: True,
            int: 1,
            float: 0.5,
            str: "HWC",
            np.ndarray: np.zeros(2),
            RandomKey: RandomKey(Somewhere()),
            Features: Features((("image", 1, True, (), None),)),
        }.get(entry.hint)  # type: ignore[call-overload]
        if one is None:
            one = made_up(entry.hint)
    return (one, one, one, one) if entry.many else one


def made_up(hint: Any) -> Any:
    """Return an object of a class that no test looks into."""
    if hint is Records:
        return Records(made_up(Reader))
    if hint is TableColumn:
        return TableColumn(made_up(Reader), "label")
    plain = typing.get_origin(hint) or hint
    return len if plain.__name__ == "Callable" else object.__new__(plain)


def wrong_value(entry: Field) -> Any:
    """Return a value that does not fit a parameter, of a type that is easily taken for the right one."""
    if entry.many:
        return (object(),)
    return {bool: 1, int: True, float: "0.5", str: 3}.get(entry.hint, object())  # type: ignore[call-overload]


def fitting(kind: str) -> dict[str, Any]:
    """Return something for every field of a kind of step."""
    declaration = STEPS[kind].declaration()
    one = constant(1)
    inputs: dict[str, Any] = {entry.name: (one, one) if entry.many else one for entry in declaration.inputs}
    return inputs | {entry.name: value_of(entry) for entry in declaration.parameters}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_keeps_what_it_is_given_and_cannot_be_changed(kind):
    given = fitting(kind)
    step = STEPS[kind](**given)
    assert all(getattr(step, name) is value or getattr(step, name) == value for name, value in given.items())
    assert len(step.inputs) == sum(2 if entry.many else 1 for entry in step.declaration().inputs)
    assert step.outputs in step.output_counts
    for name in given:
        with pytest.raises(dataclasses.FrozenInstanceError, match=kind):
            setattr(step, name, None)


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_has_a_docstring_of_its_own(kind):
    text = STEPS[kind].__doc__
    assert text and not text.startswith(STEPS[kind].__name__ + "(")


@pytest.mark.parametrize("kind", KINDS)
def test_python_refuses_what_does_not_fit_by_name(kind):
    given, made = fitting(kind), STEPS[kind]
    with pytest.raises(TypeError, match=rf"{kind}: there is no field 'extent_of_it'"):
        made(**given, extent_of_it=1)
    declaration = made.declaration()
    for entry in (*declaration.inputs, *declaration.parameters):
        without = {name: value for name, value in given.items() if name != entry.name}
        if entry.default is None:
            with pytest.raises(TypeError, match=rf"{kind}: {entry.name} is missing"):
                made(**without)
        else:
            made(**without)
        wrong = "x" if entry in declaration.inputs else wrong_value(entry)
        with pytest.raises(TypeError, match=rf"{kind}: {entry.name} must be "):
            made(**given | {entry.name: wrong})
        if not entry.optional and not entry.many:
            with pytest.raises(TypeError, match=rf"{kind}: {entry.name} must be .*got None"):
                made(**given | {entry.name: None})


def test_a_misspelt_field_is_recognised():
    with pytest.raises(TypeError, match=r"cast: there is no field 'dtpye'; did you mean dtype\?"):
        Cast(data=constant(1), dtype=FLOAT, dtpye=FLOAT)  # type: ignore[call-arg]


# The core


def native_value(value: Any) -> Any:
    """Return a parameter as the compiler hands it to the core."""
    index = np.zeros(0, np.int64)
    resources = {
        Records: lambda: _core.ByteRanges(
            b"", np.frombuffer(b"a.jpg\0", np.uint8), np.array([0, 6]), index, index, index, []
        ),
        TableColumn: lambda: _core.Table(np.zeros((1, 1), np.int32), index),
        Features: lambda: _core.ExampleFeatures(value.rows),
        RandomKey: lambda: 7,
        Reader: lambda: 0,
    }
    if isinstance(value, Enum):
        return value.value
    return resources.get(type(value), lambda: value)()


def described(kind: str) -> tuple[dict[str, Any], list[tuple[str, int]], list[int]]:
    """Return the parameters, inputs and outputs of a step as the core gets them; slots 0 and 1 are filled."""
    step = STEPS[kind](**fitting(kind))
    params = {name: native_value(value) for name, value in step.parameters().items()}
    if kind in ("arithmetic", "reduce"):
        params["operation"] = {"arithmetic": "add", "reduce": "sum"}[kind]
    if kind == "expression":
        params["code"] = "add 0 1"
    if kind in ("box_flip", "box_rotate", "random_box_crop"):
        params["layout"] = "xyXY"
    return params, [(name, 0) for name, _ in step.named_inputs()], list(range(2, 2 + step.outputs))


def add(kind: str, params: dict[str, Any], inputs: list[tuple[str, int]], outputs: list[int]) -> None:
    program = _core.Program()
    program.add_constant(0, np.zeros(3))
    program.add_constant(1, np.zeros(3))
    program.add_step(kind, params, inputs, outputs, [])


def other_types(value: Any) -> Iterator[Any]:
    """Return values of other types than that of a parameter."""
    for other in (True, 3, 0.5, "text", (1, 2), (0.5,), None, _core.ExampleFeatures([("a", 1, True, [], None)])):
        fits = type(other) is type(value) or (type(value) is float and type(other) is int)
        if isinstance(value, tuple) and isinstance(other, tuple):
            fits = type(value[0]) is float or type(other[0]) is int
        if not fits:
            yield other


@pytest.mark.parametrize("kind", NATIVE)
def test_the_core_takes_every_step_as_it_is_declared(kind):
    add(kind, *described(kind))


@pytest.mark.parametrize("kind", NATIVE)
def test_the_core_takes_every_declared_choice_and_no_other(kind):
    params, inputs, outputs = described(kind)
    for entry in STEPS[kind].declaration().parameters:
        if typing.get_origin(entry.hint) is Literal and not entry.many:
            for choice in typing.get_args(entry.hint):
                add(kind, params | {entry.name: choice}, inputs, outputs)
            with pytest.raises(ValueError, match=rf"^{kind}: the parameter {entry.name} must be one of .*got 'text'"):
                add(kind, params | {entry.name: "text"}, inputs, outputs)


@pytest.mark.parametrize("kind", NATIVE)
def test_the_core_refuses_parameters_that_do_not_fit_by_name(kind):
    params, inputs, outputs = described(kind)
    with pytest.raises(ValueError, match=rf"^{kind}: there is no parameter 'extent_of_it'"):
        add(kind, params | {"extent_of_it": 1}, inputs, outputs)
    optional = {entry.name for entry in STEPS[kind].declaration().parameters if entry.optional}
    for name, value in params.items():
        without = {key: other for key, other in params.items() if key != name}
        with pytest.raises(ValueError, match=rf"^{kind}: the parameter {name} is missing"):
            add(kind, without, inputs, outputs)
        for other in other_types(value):
            if other is None and name in optional:
                continue
            if isinstance(value, _core.Resource) and isinstance(other, type(value)):
                continue
            with pytest.raises(ValueError, match=rf"^{kind}: the parameter {name} must be .*, got "):
                add(kind, params | {name: other}, inputs, outputs)


@pytest.mark.parametrize("kind", NATIVE)
def test_the_core_refuses_inputs_that_do_not_fit_by_name(kind):
    params, inputs, outputs = described(kind)
    with pytest.raises(ValueError, match=rf"^{kind}: there is no input 'extent_of_it'"):
        add(kind, params, [*inputs, ("extent_of_it", 0)], outputs)
    for entry in STEPS[kind].declaration().inputs:
        others = [pair for pair in inputs if pair[0] != entry.name]
        if entry.many:
            add(kind, params, others, outputs)
            continue
        with pytest.raises(ValueError, match=rf"^{kind}: the input {entry.name} is given twice"):
            add(kind, params, [*inputs, (entry.name, 1)], outputs)
        if entry.optional:
            add(kind, params, others, outputs)
            continue
        with pytest.raises(ValueError, match=rf"^{kind}: the input {entry.name} is missing"):
            add(kind, params, others, outputs)
        with pytest.raises(ValueError, match=rf"^{kind}: the input {entry.name} cannot be left out"):
            add(kind, params, [*others, (entry.name, -1)], outputs)


@pytest.mark.parametrize("kind", NATIVE)
def test_the_core_refuses_a_wrong_number_of_outputs_and_slots_that_nothing_fills(kind):
    params, inputs, _ = described(kind)
    counts = STEPS[kind].output_counts
    for count in {counts.start - 1, counts.stop} - {2**16}:
        with pytest.raises(ValueError, match=rf"^{kind}: {count} outputs; it has {counts.start}"):
            add(kind, params, inputs, list(range(2, 2 + count)))
    if inputs:
        with pytest.raises(ValueError, match=rf"^{kind}: nothing before it fills slot 99"):
            add(kind, params, [(inputs[0][0], 99), *inputs[1:]], list(range(2, 2 + counts.start)))


def test_the_core_refuses_kinds_types_filters_and_choices_that_there_are_not():
    params, inputs, outputs = described("resample")
    for change, message in (
        ({"dtype": 12}, "resample: the parameter dtype must be the number of an element type, got 12"),
        ({"dtype": -1}, "resample: the parameter dtype must be the number of an element type, got -1"),
        ({"filter_min": 6}, "resample: the parameter filter_min must be the number of a filter, got 6"),
    ):
        with pytest.raises(ValueError, match=message):
            add("resample", params | change, inputs, outputs)
    params, inputs, outputs = described("window")
    with pytest.raises(ValueError, match=r"window: the parameter policy must be one of 'error', 'pad', .*got 'grow'"):
        add("window", params | {"policy": "grow"}, inputs, outputs)
    params, inputs, outputs = described("read")
    with pytest.raises(ValueError, match="read: the parameter reader must be the number of a reader, got -1"):
        add("read", params | {"reader": -1}, inputs, outputs)
    with pytest.raises(ValueError, match="there is no step 'resampel'"):
        add("resampel", {}, [], [2])


# Steps as values


def test_inputs_follow_the_declaration_and_can_be_exchanged():
    a, b, c, d = (constant(number) for number in range(4))
    step = Choose(number=a, choices=(b, c))
    assert step.inputs == (a, b, c)
    assert step.named_inputs() == [("number", a), ("choices", b), ("choices", c)]
    changed = step.with_inputs((d, c, b))
    assert changed.number is d and changed.choices == (c, b)
    part = Subscript(data=a, bounds=(None, b, None, None))
    assert part.with_inputs((d, None, c, None, None)).bounds == (None, c, None, None)


def test_a_step_belongs_to_the_operator_that_is_being_lowered_also_when_it_is_replaced():
    origin = Somewhere()
    with lowering(origin):
        step = Shape(data=constant(1))
    assert step.origin is origin
    assert dataclasses.replace(step, data=constant(2)).origin is origin
    assert step.with_inputs((constant(2),)).origin is origin
    assert Shape(data=constant(1)).origin is None


def test_a_step_of_a_batch_takes_the_branch_it_is_made_in():
    condition, data = constant(1), external()
    with lowering(Somewhere(), ((condition, 0, True),)):
        step = PermuteBatch(data=data, indices=data)
        alone = BatchExtents(shape=constant([1]), axes=())
    assert step.branch == ((condition, 0, True),) and alone.branch == ()
    assert step.own_inputs == (data, data) and step.inputs == (data, data, condition)
    other = constant(2)
    changed = step.with_inputs((data, data, other))
    assert changed.branch == ((other, 0, True),)
    assert dataclasses.replace(step, indices=data).branch == step.branch


def external() -> Expr:
    made: Step = ExternalInput(source=made_up(ExternalInput.declaration().parameters[0].hint), output=0)
    return made.value()


def test_the_number_of_layouts_is_that_of_the_outputs():
    with pytest.raises(Exception, match="join: 2 layouts for 1 outputs"):
        Join(parts=()).values("", "")


def test_defaults_are_those_of_a_step_that_nothing_was_fused_into():
    one = constant(1)
    step = Resample(
        image=one,
        geometry=one,
        layout="",
        filter_min=INTERP_LINEAR,
        filter_mag=INTERP_LINEAR,
        antialias=True,
        dtype=None,
    )
    assert step.mean is None and not step.normalize and step.out_layout == ""


def test_whole_numbers_are_numbers_but_flags_are_not():
    one = constant(1)
    given: Any = {"start": one, "extent": one, "channels": 2, "policy": "pad", "name": "crop"}
    with pytest.raises(TypeError, match="window: axes must be a tuple whose elements are each a whole number"):
        Window(data=one, axes=(True,), **given)
    with pytest.raises(TypeError, match="window: axes must be a tuple"):
        Window(data=one, axes=[1], **given)
    assert Window(data=one, axes=(1, 0), **given).axes == (1, 0)


def test_element_types_and_filters_are_numbered_as_in_the_core():
    params, inputs, outputs = described("cast")
    for dtype in DALIDataType:
        known = 0 <= dtype.value <= DALIDataType.BOOL.value
        if known:
            add("cast", params | {"dtype": dtype.value}, inputs, outputs)
        else:
            with pytest.raises(ValueError, match="cast: the parameter dtype"):
                add("cast", params | {"dtype": dtype.value}, inputs, outputs)
    params, inputs, outputs = described("resample")
    for kind in DALIInterpType:
        add("resample", params | {"filter_mag": kind.value}, inputs, outputs)
