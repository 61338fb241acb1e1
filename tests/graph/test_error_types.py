"""The commonest mistakes raise errors that handlers written for DALI catch."""

from __future__ import annotations

from itertools import repeat

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, noise, run
from peers import peer

from pixelmill import PixelmillError
from pixelmill.errors import UnknownNameError

IMAGES = [noise((8, 8, 3)), noise((8, 8, 3), seed=1)]
SMALL = [noise((3, 8, 3)), noise((8, 8, 3), seed=1)]
BYTES = [np.arange(50, dtype=np.uint8)] * 2


def applied(graph, *inputs, **options):
    """A program that runs a graph."""
    return lambda m: run(graph, *(inputs or [IMAGES]), module=m, **options)


def fed(data, *, name="x", **options):
    """A program that feeds a batch."""

    def program(m):
        pipe = m.Pipeline(2, 2, None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(m.fn.external_source(name="x", **{key: value(m) for key, value in options.items()}))
        pipe.build()
        pipe.feed_input(name, data)
        return pipe.run()

    return program


def sourced(source, **options):
    """A program with an external source."""

    def program(m):
        pipe = m.Pipeline(2, 2, None, prefetch_queue_depth=1)
        with pipe:
            pipe.set_outputs(m.fn.external_source(source=source, **options))
        return pipe.run()

    return program


def defined(graph, **options):
    """A program of a function that defines a pipeline."""

    def program(m):
        def function():
            return graph(m)

        made = m.pipeline_def(batch_size=2, num_threads=1, device_id=None, **options)(function)
        made().build()

    return program


def named_twice(m):
    pipe = m.Pipeline(2, 2, None)
    with pipe:
        pipe.set_outputs(m.fn.external_source(name="x"), m.fn.external_source(name="x"))
    pipe.build()


def files(**options):
    return lambda m: run(lambda m: m.fn.readers.file(**options)[0], module=m)


def plugin(m):
    return peer(f"{m.__name__}.plugin.pytorch")


def iterated(names, **options):
    """A program with an iterator for PyTorch."""
    return lambda m: plugin(m).DALIGenericIterator(make(m, lambda m, x: x, IMAGES), names, **options)


MISTAKES = {
    "an argument that does not exist": applied(lambda m, x: m.fn.resize(x, sizee=3)),
    "the same in a class": applied(lambda m, x: m.ops.Resize(sizee=3)(x)),
    "a missing argument": applied(lambda m, x: m.fn.random_resized_crop(x)),
    "text for a number": applied(lambda m, x: m.fn.rotate(x, angle="abc")),
    "an object for a number": applied(lambda m, x: m.fn.rotate(x, angle=object())),
    "text for a type": applied(lambda m, x: m.fn.cast(x, dtype="float")),
    "text for an input": applied(lambda m, x: m.math.sqrt("abc")),
    "text for a constant": applied(lambda m, x: m.types.Constant("abc")),
    "a node for a constant": applied(lambda m, x, y: m.fn.transpose(x, perm=y), IMAGES, [np.arange(3)] * 2),
    "no input": applied(lambda m, x: m.fn.resize(size=3)),
    "too many inputs": applied(lambda m, x: m.fn.resize(x, x, x, size=3)),
    "an unknown device": applied(lambda m, x: m.fn.resize(x, size=3, device="tpu")),
    "an argument twice": applied(lambda m, x: m.ops.Resize(size=3)(x, size=4)),
    "no size": applied(lambda m, x: m.fn.resize(x)),
    "sizes that contradict": applied(lambda m, x: m.fn.resize(x, resize_x=3, size=3)),
    "no sigma": applied(lambda m, x: m.fn.gaussian_blur(x)),
    "a crop that is too large": applied(lambda m, x: m.fn.crop(x, crop=(20, 20))),
    "an unknown policy": applied(lambda m, x: m.fn.crop(x, crop=(2, 2), out_of_bounds_policy="none")),
    "no permutation": applied(lambda m, x: m.fn.transpose(x, perm=[0, 0, 1])),
    "an axis that is not in the layout": applied(lambda m, x: m.fn.slice(x, 0, 1, axis_names="Q")),
    "a layout that does not fit": applied(lambda m, x: x, layouts=["HWCX"]),
    "no layout": applied(lambda m, x: m.fn.flip(x), [np.zeros((3, 3), np.uint8)] * 2, layouts=[""]),
    "an image as a sequence": applied(lambda m, x: m.fn.sequence_rearrange(x, new_order=[0])),
    "another number of elements": applied(lambda m, x: m.fn.reshape(x, shape=[7, 7])),
    "shapes that cannot be concatenated": applied(lambda m, x: m.fn.cat(x, m.fn.crop(x, crop=(3, 3)), axis=2)),
    "shapes that cannot be stacked": applied(lambda m, x: m.fn.stack(x, m.fn.crop(x, crop=(3, 3)))),
    "shapes that cannot be broadcast": applied(lambda m, x: x + m.fn.crop(x, crop=(3, 3))),
    "an index out of range": applied(lambda m, x: x[100]),
    "an ellipsis": applied(lambda m, x: x[..., 0]),
    "bits of floats": applied(lambda m, x: m.fn.cast(x, dtype=m.types.FLOAT) & 3),
    "the wrong number of values": applied(lambda m, x: m.fn.random.uniform(range=[0, 1, 2])),
    "a condition on a node": applied(lambda m, x: m.fn.flip(x) if x else x),
    "iterating over a node": applied(lambda m, x: list(x)),
    "what is no image": applied(lambda m, x: m.fn.decoders.image(x), BYTES, layouts=[""]),
    "floats as encoded images": applied(lambda m, x: m.fn.lookup_table(m.fn.cast(x, dtype=m.types.FLOAT))),
    "a folder that does not exist": files(file_root="/does/not/exist"),
    "a list that does not exist": files(file_list="/does/not/exist.txt"),
    "a file that does not exist": files(files=["/does/not/exist.jpg"]),
    "no files": files(),
    "a shard that does not exist": files(files=["a", "b"], shard_id=3, num_shards=2),
    "more shards than files": files(files=["a", "b"], num_shards=5),
    "a batch that is too large": fed(IMAGES * 2),
    "another type than declared": fed(IMAGES, dtype=lambda m: m.types.FLOAT),
    "another rank than declared": fed(IMAGES, ndim=lambda m: 2),
    "samples of different types": fed([IMAGES[0], IMAGES[1].astype(np.float32)]),
    "samples of different ranks": fed([IMAGES[0], IMAGES[1][0]]),
    "Python's numbers": fed([1.0, 2.0]),
    "objects": fed([object(), object()]),
    "an input that does not exist": fed(IMAGES, name="y"),
    "feeding a node with a source": fed(IMAGES, source=lambda m: repeat(IMAGES)),
    "a source that is none": sourced(5),
    "a source that raises": sourced(lambda: 1 / 0),
    "an empty source": sourced(iter([])),
    "a callable that starts over": sourced(lambda: IMAGES, cycle=True),
    "an unknown cycle": sourced(iter([IMAGES]), cycle="sometimes"),
    "samples that differ, as one array": lambda m: make(m, lambda m, x: x, SMALL).run()[0].as_array(),
    "samples that differ, as one tensor": lambda m: make(m, lambda m, x: x, SMALL).run()[0].as_tensor(),
    "a sample that does not exist": lambda m: make(m, lambda m, x: x, IMAGES).run()[0].at(7),
    "indexing a sample that does not exist": lambda m: make(m, lambda m, x: x, IMAGES).run()[0][7],
    "no graph": lambda m: m.Pipeline(2, 2, None).build(),
    "no batch size": applied(lambda m, x: x, batch_size=0),
    "no threads": applied(lambda m, x: x, num_threads=0),
    "no outputs": defined(lambda m: None),
    "text as an output": defined(lambda m: (m.fn.random.uniform(), "a")),
    "an argument that Pipeline does not have": defined(lambda m: m.fn.random.uniform(), threads=3),
    "one name for two": named_twice,
    "an axis that does not exist": applied(lambda m, x: m.fn.reductions.sum(x, axes=[5])),
    "a fraction as an index": applied(lambda m, x: x[1.5]),
    "text as an index": applied(lambda m, x: x["a"]),
    "too many indices": applied(lambda m, x: x[0, 0, 0, 0]),
    "nothing as an operand": applied(lambda m, x: x + None),
    "text as an operand": applied(lambda m, x: x + "a"),
    "nothing as a number": applied(lambda m, x: m.math.sqrt(None)),
    "text as a seed": applied(lambda m, x: m.fn.random.uniform(seed="x")),
    "a constant of another shape": applied(lambda m, x: m.fn.copy(m.types.Constant([1, 2, 3], shape=(2, 2)))),
    "a function that returns nothing": applied(lambda m, x: m.fn.python_function(x, function=lambda a: None)),
    "a function that returns too little": applied(
        lambda m, x: m.fn.python_function(x, function=lambda a: (a, a), num_outputs=3)
    ),
    "a function that is none": applied(lambda m, x: m.fn.python_function(x, function=3)),
    "three numbers as a size": applied(lambda m, x: m.fn.resize(x, size=[1, 2, 3])),
    "two angles": applied(lambda m, x: m.fn.rotate(x, angle=[1.0, 2.0])),
    "text as a filter": applied(lambda m, x: m.fn.resize(x, size=5, interp_type="linear")),
    "too few means": applied(lambda m, x: m.fn.crop_mirror_normalize(x, mean=[1.0, 2.0], std=[1.0, 1.0, 1.0])),
    "another set of axes": applied(lambda m, x: m.fn.crop_mirror_normalize(x, output_layout="XYZ")),
    "two sizes of a crop": applied(lambda m, x: m.fn.crop(x, crop=(2, 2), crop_h=3)),
    "a crop outside": applied(lambda m, x: m.fn.crop(x, crop=(2, 2), crop_pos_x=2.0)),
    "a range upside down": applied(lambda m, x: m.fn.random.uniform(range=[2.0, 1.0])),
    "an axis that cannot be squeezed": applied(lambda m, x: m.fn.squeeze(x, axes=[0])),
    "a short matrix": applied(lambda m, x: m.fn.warp_affine(x, matrix=[1.0, 2.0, 3.0])),
    "more keys than values": applied(lambda m, x: m.fn.lookup_table(x, keys=[1, 2], values=[1])),
    "an end before the start": applied(lambda m, x: m.fn.slice(x, start=[5], end=[2], axes=[0])),
    "no such sample": applied(lambda m, x: m.fn.permute_batch(x, indices=[5, 6])),
    "no such operator": applied(lambda m, x: m.fn.no_such_operator(x)),
    "a declared type that is none": applied(lambda m, x: x, output_dtype=[3]),
    "a negative number of axes": applied(lambda m, x: x, output_ndim=[-5]),
    "a source with two parameters": sourced(lambda info, other: IMAGES),
    "a reader that does not exist": lambda m: make(m, lambda m, x: x, IMAGES).epoch_size("none"),
    "what is no serialized pipeline": lambda m: m.Pipeline.deserialize(b"abc"),
    "more files than labels": files(files=["a", "b"], labels=[1]),
    "names of outputs that do not exist": iterated(["a", "b"]),
    "the same name twice": iterated(["a", "a"]),
    "a reader and a size": iterated(["a"], reader_name="none", size=3),
    "no pipelines": lambda m: plugin(m).DALIGenericIterator([], ["a"]),
    "what is no checkpoint": applied(lambda m, x: x, checkpoint=b"{", enable_checkpointing=True),
    "another rank of the output than declared": applied(lambda m, x: x, output_ndim=2),
}


@pytest.mark.parametrize("mistake", MISTAKES)
@pytest.mark.filterwarnings("ignore")
def test_mistakes_raise_what_handlers_for_dali_catch(mistake):
    with pytest.raises(Exception) as theirs:
        MISTAKES[mistake](DALI)
    kind = next(base for base in type(theirs.value).__mro__ if base.__module__ == "builtins")
    with pytest.raises(kind) as mine:
        MISTAKES[mistake](HERE)
    if kind in (KeyError, NotImplementedError, RuntimeError):
        assert isinstance(mine.value, PixelmillError)


KNOWN_PHRASES = {
    "an argument that does not exist": "got an unexpected argument 'sizee'; did you mean size?",
    "a missing argument": "not all required arguments were specified",
    "too many inputs": "expects 1 inputs, but received 3",
    "a node for a constant": "should not be a 'DataNode'",
    "another type than declared": "expected data of type FLOAT",
    "another rank than declared": "expected data with 2 dimensions",
    "an ellipsis": "Ellipsis in indexing is not implemented",
    "a condition on a node": "was used in conditional context",
    "one name for two": "non-unique names",
    "a source that is none": "must be callable, iterable or a generator function",
    "an image as a sequence": "the input must be a sequence",
}


@pytest.mark.parametrize("mistake", KNOWN_PHRASES)
def test_messages_have_the_phrases_that_programs_know(mistake):
    with pytest.raises(Exception) as caught:
        MISTAKES[mistake](HERE)
    assert KNOWN_PHRASES[mistake] in str(caught.value)


def test_unknown_names_are_not_quoted_like_keys():
    assert str(UnknownNameError("resize: got an unexpected argument 'a'")) == "resize: got an unexpected argument 'a'"
