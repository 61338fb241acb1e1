"""Arithmetic on nodes against DALI: types, constants, shapes and chains; and fusion, which must not change a bit."""

from __future__ import annotations

import operator

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, numpy_batch, refused
from hypothesis import given, settings
from hypothesis import strategies as st
from operator_comparison import VIEWS, on_each_level
from peers import peer

from pixelmill import ArgumentError, DataError, fn, math, newaxis, types
from pixelmill.engine.compile import compile_graph
from pixelmill.operators.arithmetic import OPERATIONS

peer("nvidia.dali.math")  # makes dali.math known

INTEGERS = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int16, np.int32, np.int64]
TYPES = [np.bool_, *INTEGERS, np.float32, np.float64]
SIGNS = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "fdiv": operator.truediv,
    "div": operator.floordiv,
    "mod": operator.mod,
    "pow": operator.pow,
    "eq": operator.eq,
    "neq": operator.ne,
    "lt": operator.lt,
    "leq": operator.le,
    "gt": operator.gt,
    "geq": operator.ge,
    "bitand": operator.and_,
    "bitor": operator.or_,
    "bitxor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
BITS = ["bitand", "bitor", "bitxor", "lshift", "rshift"]
COMPARISONS = ["eq", "neq", "lt", "leq", "gt", "geq"]
FUNCTIONS = [
    *("sqrt", "rsqrt", "cbrt", "exp", "log", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "abs", "fabs", "floor", "ceil"),
]
ROUNDED = {*FUNCTIONS, "pow", "fpow", "atan2"} - {"abs", "fabs", "floor", "ceil", "sqrt"}


def kind(dtype):
    return np.dtype(dtype).kind


def values(dtype, seed):
    """Make small, large and extreme elements."""
    random = np.random.default_rng([seed, np.dtype(dtype).num])
    if kind(dtype) == "b":
        return random.integers(0, 2, 64).astype(bool)
    if kind(dtype) == "f":
        return random.permutation([*random.normal(0, 50, 40), *random.integers(-5, 6, 20), 0, 0.5, -0.5, 1e6]).astype(
            dtype
        )
    limits = np.iinfo(dtype)
    wide = random.integers(limits.min, limits.max, 26, dtype, endpoint=True)
    small = random.integers(max(limits.min, -6), 7, 36).astype(dtype)
    return random.permutation(np.concatenate([wide, small, np.array([limits.min, limits.max], dtype)]))


def apply(module, name, *operands):
    return SIGNS[name](*operands) if name in SIGNS else getattr(module.math, name)(*operands)


def results(module, graph, *inputs, **options):
    """Return all outputs of a graph, each as (arrays, names of axes)."""
    layouts = options.pop("layouts", [""] * len(inputs))
    batches = make(module, graph, *inputs, layouts=layouts, **options).run()
    return [(numpy_batch(batch), batch.layout()) for batch in batches]


def same(ours, dalis, *, rounded=False):
    """Demand equal types, shapes, names and elements; of functions that round, elements to within 1e-5."""
    for (mine, layout), (theirs, wanted) in zip(ours, dalis, strict=True):
        assert layout == wanted
        for got, expected in zip(mine, theirs, strict=True):
            assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
            np.testing.assert_allclose(got, expected, rtol=1e-5 if rounded else 0, atol=1e-35 if rounded else 0)


def as_dali(graph, *inputs, rounded=False, **options):
    """Demand DALI's results, and the same bytes without fusion; give ours."""
    ours = results(HERE, graph, *inputs, **options)
    same(ours, results(DALI, graph, *inputs, **options), rounded=rounded)
    unfused(ours, graph, *inputs, **options)
    return ours


def unfused(ours, graph, *inputs, **options):
    apart = results(HERE, graph, *inputs, **options, optimize=False)
    for (mine, layout), (theirs, wanted) in zip(ours, apart, strict=True):
        assert layout == wanted
        assert [(x.dtype, x.shape, x.tobytes()) for x in mine] == [(x.dtype, x.shape, x.tobytes()) for x in theirs]


# Types


def has(name, a, b):
    """Tell whether DALI has an operation for two types."""
    if name in BITS:
        return "f" not in (kind(a), kind(b))
    return (a, b) != (np.bool_, np.bool_) or name in ("mul", *COMPARISONS)


def operands(name, a, b):
    """Make operands that DALI can take: no division by zero, no negative integer compared with a float."""
    x, y = values(a, 1), values(b, 2)
    if name in ("div", "mod"):
        y = np.where((y == 0) | (y.astype(float) == -1), np.array(1, y.dtype), y)
    if name in COMPARISONS and kind(a) + kind(b) in ("if", "fi"):
        x, y = (np.where(v < 0, np.array(0, v.dtype), v) if kind(v.dtype) == "i" else v for v in (x, y))
    return [x], [y]


@pytest.mark.parametrize("name", [*SIGNS, "min", "max", "fpow", "atan2"])
def test_every_pair_of_types_is_dalis(name):
    pairs = [(a, b) for a in TYPES for b in TYPES if has(name, a, b)]
    inputs = [batch for pair in pairs for batch in operands(name, *pair)]

    def graph(module, *nodes):
        return [apply(module, name, a, b) for a, b in zip(nodes[::2], nodes[1::2], strict=True)]

    same(results(HERE, graph, *inputs), results(DALI, graph, *inputs), rounded=name in ROUNDED)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_is_dalis(name):
    inputs = [[values(dtype, 3)] for dtype in TYPES[1:]] + [[np.linspace(-1.5, 1.5, 99, dtype=np.float32)]]
    if name == "rsqrt":  # DALI's approximation gives no number for 0
        inputs = [[x[x != 0] for x in batch] for batch in inputs]
    as_dali(lambda m, *nodes: [getattr(m.math, name)(x) for x in nodes], *inputs, rounded=name in ROUNDED)


def test_signs_before_a_node_are_dalis():
    numbers = [[values(dtype, 4)] for dtype in TYPES]
    as_dali(lambda m, *nodes: [abs(-x) for x in nodes[1:]], *numbers)
    as_dali(lambda m, *nodes: [~x for x in nodes[:9]], *numbers)
    as_dali(lambda m, *nodes: [+x for x in nodes], *numbers)


@settings(max_examples=40)
@given(st.lists(st.sampled_from(TYPES[1:]), min_size=3, max_size=3))
def test_clamp_takes_any_three_types_as_dali(dtypes):
    inputs = [[values(dtype, seed)] for seed, dtype in enumerate(dtypes)]
    as_dali(lambda m, x, low, high: m.math.clamp(x, low, high), *inputs)


@pytest.mark.parametrize("name", COMPARISONS)
def test_negative_integers_compare_with_floats_by_value(name):
    # DALI takes any negative integer for smaller than any float.
    x, y = np.arange(-5, 6, dtype=np.int32), np.linspace(-5, 5, 21, dtype=np.float32)[::2].copy()
    (((less,), _), ((more,), _)) = results(HERE, lambda m, a, b: (SIGNS[name](a, b), SIGNS[name](b, a)), [x], [y])
    np.testing.assert_array_equal(less, SIGNS[name](x, y))
    np.testing.assert_array_equal(more, SIGNS[name](y, x))


@pytest.mark.parametrize("name", ["add", "mul", "fdiv", "pow", "min", "sqrt", "exp", "lt"])
def test_halves_are_computed_as_floats_and_rounded(name):
    # DALI has no arithmetic of float16 on the CPU.
    count = 1 if name in FUNCTIONS else 2
    x = np.linspace(0.25, 9, 64, dtype=np.float16)
    y = np.linspace(3, 0.5, 64, dtype=np.float16)
    (((got,), _),) = results(HERE, lambda m, *nodes: apply(m, name, *nodes), *[[x], [y]][:count])
    plain = {"pow": np.power, "min": np.minimum, "sqrt": np.sqrt, "exp": np.exp}.get(name) or SIGNS[name]
    wanted = plain(*[v.astype(np.float32) for v in (x, y)][:count])
    np.testing.assert_array_equal(got, wanted if wanted.dtype == bool else wanted.astype(np.float16))


def test_whole_division_by_minus_one_wraps():
    lowest = [np.array([np.iinfo(dtype).min] * 40, dtype) for dtype in (np.int8, np.int16, np.int32, np.int64)]
    for x in lowest:
        minus = types.Constant(-1, types.to_data_type(x.dtype))
        ((quotient,), _), ((rest,), _) = results(HERE, lambda m, a: (a // minus, a % minus), [x])  # noqa: B023
        assert (quotient == x).all() and (rest == 0).all()


@pytest.mark.parametrize("name", sorted(OPERATIONS))
def test_instructions_change_no_bit(name):
    count = len(OPERATIONS[name].inputs)
    for dtype in INTEGERS[: 8 if name in (*SIGNS, "abs", "minus", "bitnot", "min", "max", "clamp") else 0]:
        if name == "fdiv" or (name in ("div", "mod") and dtype == np.uint64):
            continue
        rows = [[np.resize(values(dtype, seed), 1500) | (name in ("div", "mod"))] for seed in range(count)]
        on_each_level(lambda m, *nodes: _operate(name, *nodes), *rows, layouts=[""] * count)
    if name not in (*BITS, "bitnot"):
        floats = [[np.resize(np.abs(values(np.float32, seed)) + 0.5, 1500)] for seed in range(count)]
        on_each_level(lambda m, *nodes: _operate(name, *nodes), *floats, layouts=[""] * count)


def _operate(name, *nodes):
    return nodes[0]._operate(name, *nodes)


# Constants


CONSTANTS = {
    "int": lambda m: 7,
    "float": lambda m: 0.5,
    "bool": lambda m: True,
    "float32": lambda m: np.float32(0.1),
    "int64": lambda m: np.int64(7),
    "uint8": lambda m: np.uint8(255),
    "numpy bool": lambda m: np.bool_(True),
    "array": lambda m: np.array([1.5, 2.0, 3.25]),
    "whole array": lambda m: np.array([1, 2, 3]),
    "short array": lambda m: np.array([1, 2, 3], np.int16),
    "one element": lambda m: np.array([4]),
    "no axes": lambda m: np.array(4, np.int16),
    "list": lambda m: [1, 2, 3],
    "typed": lambda m: m.types.Constant(3, m.types.UINT16),
    "typed float": lambda m: m.types.Constant(0.5, m.types.FLOAT64),
    "shaped": lambda m: m.types.Constant(3, shape=[2, 3]),
    "list of a type": lambda m: m.types.Constant([1, 2.5, -3.5], dtype=m.types.INT8),
    "rounded and cut": lambda m: m.types.Constant([1, 2.5, 300], dtype=m.types.UINT8),
    "with names": lambda m: m.types.Constant(np.ones((2, 3), np.float32), layout="WC"),
}


@pytest.mark.parametrize("name", CONSTANTS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.float64])
def test_constants_are_dalis(name, dtype):
    batch = [noise((4, 2, 3), np.uint8, i).astype(dtype) for i in range(2)]

    def graph(m, x):
        constant = CONSTANTS[name](m)
        return x + constant, x * constant, x > constant, m.math.max(constant, x)

    as_dali(graph, batch, layouts=["HWC"])


def test_constants_may_stand_on_the_left_as_in_dali():
    batch = [np.array([1, 2, 3], np.int32)]

    def graph(m, x):
        return 7 + x, 7 - x, 7 * x, 7 / x, 7 // x, 7 % x, 2**x, 6 & x, 6 | x, 6 ^ x, 1 << x, 255 >> x

    as_dali(graph, batch)


def test_an_array_on_the_left_is_an_operand_too():
    batch = [np.array([1, 2, 3], np.uint8)]
    ((got,), _), ((other,), _) = results(HERE, lambda m, x: (np.array([1.5, 2, 3]) + x, np.float32(2) * x), batch)
    np.testing.assert_array_equal(got, np.array([2.5, 4, 6], np.float32))
    np.testing.assert_array_equal(other, np.array([2, 4, 6], np.float32))


CONSTANT_ARRAYS = {
    "number before": lambda m, c: 0.3 * c,
    "number last": lambda m, c: c - 1,
    "two": lambda m, c: c * c,
    "array": lambda m, c: c + np.int16([1, 2, 3]),
    "compared": lambda m, c: c >= 3,
    "sign": lambda m, c: -c,
    "part": lambda m, c: c[1:, 0],
    "new axis": lambda m, c: c[:, m.newaxis, :],
    "shape": lambda m, c: c.shape(),
    "scalar constant": lambda m, c: m.types.Constant(2).uint8() * c,
}


@pytest.mark.parametrize("name", CONSTANT_ARRAYS)
def test_arithmetic_of_constant_arrays_is_dalis(name):
    def graph(m):
        return CONSTANT_ARRAYS[name](m, m.types.Constant(np.arange(6, dtype=np.uint8).reshape(2, 3)))

    same(results(HERE, graph), results(DALI, graph))


def test_a_constant_can_change_its_type():
    constant = types.Constant(3)
    assert constant.dtype == types.INT32  # type: ignore[union-attr]
    for name, dtype in types._NUMPY.items():
        if name != types.BOOL:
            assert getattr(constant, dtype.name)().dtype == name
    assert constant.bool().value is True  # type: ignore[union-attr]
    assert types.Constant(np.uint16(5)).dtype == types.UINT16  # type: ignore[union-attr]


# Shapes


@st.composite
def shapes(draw, count, least=1):
    """Make shapes that can be stretched to one another."""
    whole = draw(st.lists(st.integers(least, 5), min_size=0, max_size=4))
    made = []
    for _ in range(count):
        own = [draw(st.sampled_from([extent, 1])) for extent in whole]
        made.append(tuple(own[draw(st.integers(0, len(own))) :]))
    return made


@given(st.data())
def test_shapes_are_stretched_as_dali_stretches_them(data):
    count = data.draw(st.integers(2, 3))
    dtypes = data.draw(st.lists(st.sampled_from([np.uint8, np.int16, np.float32]), min_size=count, max_size=count))
    drawn = data.draw(shapes(count))
    batches = [[noise(shape, dtype, i)] for i, (shape, dtype) in enumerate(zip(drawn, dtypes, strict=True))]
    as_dali(lambda m, *nodes: (nodes[0] + nodes[1], m.math.clamp(nodes[0], nodes[1], nodes[-1])), *batches)


@given(st.data())
def test_every_sample_is_stretched_by_itself(data):
    # DALI reads beyond the end of a sample with one element where other samples of the batch have several.
    rank = data.draw(st.integers(0, 3))
    wholes = [data.draw(st.lists(st.integers(0, 4), min_size=rank, max_size=rank)) for _ in range(3)]
    sides = [[[data.draw(st.sampled_from([n, 1])) for n in whole] for whole in wholes] for _ in range(2)]
    a, b = ([noise(tuple(shape), np.float32, i) for i, shape in enumerate(side)] for side in sides)
    ((got, _),) = results(HERE, lambda m, x, y: x - y, a, b)
    for result, x, y in zip(got, a, b, strict=True):
        np.testing.assert_array_equal(result, x - y)


@pytest.mark.parametrize(
    "other", [(), (1,), (3,), (70, 3), (1, 70, 1), (50, 1, 1), (50, 70, 1), (50, 1, 3), (2, 1, 1, 1), (50, 70, 3)]
)
@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_images_and_what_is_stretched_over_them(other, dtype):
    x, y = noise((50, 70, 3), dtype), noise(other, np.float32)
    ours = as_dali(lambda m, a, b: (m.fn.cast(a, dtype=m.types.FLOAT) - b) * 2.0 + b, [x], [y])
    np.testing.assert_array_equal(ours[0][0][0], (x.astype(np.float32) - y) * np.float32(2) + y)


@pytest.mark.parametrize("name", VIEWS)
def test_views_are_read_like_copies(name):
    batch = [noise((40, 33, 3), np.uint8), noise((9, 11, 3), np.uint8, 1)]
    scales = [np.float32(0.5), np.float32(3)]
    as_dali(lambda m, x, s: m.math.clamp(VIEWS[name](m, x) * s - 7.5, 0, 200), batch, scales, layouts=["HWC", ""])


def test_numbers_without_axes_give_numbers():
    as_dali(lambda m, a, b: (a * b, -a, m.math.sqrt(a), a > b), [np.float32(4)], [np.int32(2)])


def test_names_of_axes_are_dalis():
    x, channels, wide = noise((4, 3, 3), np.float32), noise((3,), np.float32), noise((3, 3), np.float32)
    for layouts in (["HWC", "C", "WC"], ["HWC", "", ""], ["HWC", "C", ""]):
        as_dali(lambda m, a, b, c: (a + b, b * c, a - c, a * 2), [x], [channels], [wide], layouts=layouts)


# Chains


TWO = ["add", "sub", "mul", "min", "max", "lt", "eq", "fdiv"]
ONE = ["minus", "abs", "floor", "sqrt", "sin"]


@st.composite
def expressions(draw, inputs):
    """Make a list of operations, each on inputs or on results before it."""
    steps = []
    for number in range(inputs, inputs + draw(st.integers(2, 9))):
        name = draw(st.sampled_from([*TWO, *ONE, "cast", "clamp"]))
        count = {"clamp": 3}.get(name, 1 if name in (*ONE, "cast") else 2)
        steps.append(
            (name, [draw(st.integers(0, number - 1)) for _ in range(count)], draw(st.sampled_from(["FLOAT", "INT32"])))
        )
    return steps


def evaluated(m, steps, nodes):
    known = list(nodes)
    for name, numbers, dtype in steps:
        operands = [known[number] for number in numbers]
        if name == "cast":
            known.append(m.fn.cast(operands[0], dtype=getattr(m.types, dtype)))
        elif name == "minus":
            known.append(-(operands[0] + 0))
        elif name in ("abs", "floor", "sqrt", "sin"):
            known.append(getattr(m.math, name)(operands[0] + 0))
        elif name == "clamp":
            known.append(m.math.clamp(operands[0] + 0, operands[1], operands[2]))
        else:
            known.append(apply(m, name, operands[0] + 0, operands[1]))
    return known


@given(st.data())
@settings(max_examples=60)
def test_any_expression_is_the_same_fused_and_apart(data):
    steps = data.draw(expressions(4))
    view = VIEWS[data.draw(st.sampled_from(sorted(VIEWS)))]
    wanted = data.draw(st.sets(st.integers(4, 3 + len(steps)), min_size=1, max_size=3))
    images = [noise((9, 31, 3)), noise((21, 14, 3), seed=1)]
    inputs = [images, [np.float32(0.7), np.float32(2)], [noise((3,), np.int16), noise((3,), np.int16, 1)]]

    def graph(m, x, scale, channels):
        known = evaluated(m, steps, [x[:7, :7], view(m, x)[:7, :7], scale, channels])
        return [known[number] for number in sorted(wanted)]

    with np.errstate(all="ignore"):
        ours = results(HERE, graph, *inputs, layouts=["HWC", "", ""])
        unfused(ours, graph, *inputs, layouts=["HWC", "", ""])
        theirs = results(DALI, graph, *inputs, layouts=["HWC", "", ""])
    if not {name for name, _, _ in steps} & {"sin", "sqrt", "lt", "eq", "cast"}:
        same(ours, theirs)


def steps_of(*nodes):
    plan = compile_graph([node.expr for node in nodes], seed=0)
    return [(step.kind, step.parameters()) for segment in plan.segments for step in segment.steps]


def source(shape=(4, 5, 3), layout="HWC"):
    return fn.external_source(source=lambda: [noise(shape)], layout=layout)


def test_a_chain_is_one_pass():
    chain = math.clamp(fn.cast(source(), dtype=types.FLOAT) * 1.5 + 3.0, 0.0, 255.0)
    ((kind_, params),) = steps_of(chain)
    assert kind_ == "expression" and params["code"] == "cast 0 9; mul 5 1; add 6 2; clamp 7 3 4"


def test_what_others_need_is_not_swallowed():
    inner = source() * 2
    assert [kind_ for kind_, _ in steps_of(inner + 1, inner)] == ["arithmetic", "arithmetic"]
    assert [kind_ for kind_, _ in steps_of(fn.flip(inner) + inner)] == ["arithmetic", "flip", "arithmetic"]


def test_a_result_that_is_used_twice_in_a_chain_is_computed_once():
    inner = source() + 1
    ((kind_, params),) = steps_of(inner * inner)
    assert kind_ == "expression" and params["code"] == "add 0 1; mul 2 2"


def test_long_chains_are_cut():
    batch = [noise((3, 4), np.float32)]

    def graph(m, x):
        for number in range(120):
            x = x * 0.5 + np.array([number / 8] * 4, np.float32)
        return x

    as_dali(graph, batch)


def test_a_chain_of_numbers_is_worked_out_once():
    batch = [noise((20, 30, 3), np.float32)]
    scales = [np.float32(3)]
    as_dali(lambda m, x, s: x * (s * 2 + m.math.sin(s)) - s / 3, batch, scales, layouts=["HWC", ""])


def test_operators_between_make_several_chains():
    batch = [noise((6, 7, 3))]
    as_dali(
        lambda m, x: (m.fn.flip(x * 2 + 1) + 3) * (m.fn.transpose(x + 1, perm=[1, 0, 2])[:6, :6, :1][0, 0, 0] - 4),
        batch,
        layouts=["HWC"],
    )


# What is refused


BOOLS = [np.array([True, False])]


@pytest.mark.parametrize("name", ["add", "sub", "div", "fdiv", "mod", "pow", "min", "max", "fpow", "atan2"])
def test_booleans_alone_are_no_numbers(name):
    assert refused(lambda m, x: apply(m, name, x, x), BOOLS, layouts="") == (True, True)
    assert refused(lambda m, x: apply(m, name, x, 1), BOOLS, layouts="") == (False, False)


@pytest.mark.parametrize("name", ["sqrt", "abs", "floor"])
def test_functions_take_no_booleans(name):
    assert refused(lambda m, x: getattr(m.math, name)(x), BOOLS, layouts="") == (True, True)
    assert refused(lambda m, x: -x, BOOLS, layouts="") == (True, True)
    assert refused(lambda m, x: m.math.clamp(x, x, x), BOOLS, layouts="") == (True, True)


@pytest.mark.parametrize("name", BITS)
def test_floats_have_no_bits(name):
    assert refused(lambda m, x: SIGNS[name](x, 1), [np.ones(2, np.float32)], layouts="") == (True, True)
    with pytest.raises(ArgumentError, match=f"{name}: bitwise operations work on integers"):
        SIGNS[name](source(), 1.5)


def test_whole_division_by_zero_is_an_error_of_the_sample():
    for divide in (operator.floordiv, operator.mod):
        assert refused(lambda m, x, y: divide(x, y), [np.arange(4)], [np.arange(4)], layouts="") == (True, True)  # noqa: B023
    with pytest.raises(DataError, match=r"div: a division of integers by zero \(sample 1\)\n  created at .*x // y"):
        results(HERE, lambda m, x, y: x // y, [np.ones(2, int)] * 2, [np.ones(2, int), np.zeros(2, int)])


def test_shapes_that_do_not_fit_are_an_error_with_the_line():
    with pytest.raises(DataError, match=r"add: the shapes of uint8 \(2, 3\) and uint8 \(4,\) .*\n.*\n?.*x \+ y"):
        results(HERE, lambda m, x, y: x + y, [noise((2, 3))], [noise((4,))])


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda x: x + "a", "an input must be a node"),
        (lambda x: x == None, "operands must be nodes or constants, got None"),  # noqa: E711
        (lambda x: x + 2**40, "1099511627776 does not fit into int32"),
        (lambda x: x * types.Constant(300, types.UINT8), "300 does not fit into uint8"),
        (lambda x: x + np.array([2**40]), "does not fit into int32"),
        (lambda x: x + fn.transpose(x, perm=[2, 0, 1]), "the layouts 'HWC' and 'CHW' do not match"),
        (lambda x: x & 1.0, "bitwise operations work on integers"),
        (lambda x: math.clamp(x, "low", 2), "an input must be a node"),
        (lambda x: types.Constant(np.ones(3), layout="HW"), "names 2 axes, but the value has 1"),
    ],
)
def test_wrong_operands_are_refused_when_the_graph_is_built(wrong, text):
    with pytest.raises(ArgumentError, match=text):
        wrong(source())


def test_an_error_names_the_line():
    x, y = source(), source(layout="CHW")
    with pytest.raises(ArgumentError, match=r"created at test_arithmetic\.py:\d+ +x \* y"):
        x * y


def test_nodes_stay_keys_and_are_no_lists():
    x, y = source(), source()
    assert {x: 1, y: 2}[x] == 1 and isinstance(x == y, type(x))
    with pytest.raises(TypeError, match="not iterable"):
        iter(x)
    with pytest.raises(TypeError, match="known only when the pipeline runs"):
        bool(x == y)
    assert repr(newaxis("C")) == "newaxis('C')"
