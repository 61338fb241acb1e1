"""readers.file and external_source against DALI: which files, which labels, in which order, over several epochs."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from dali_runs import DALI, HERE, numpy_batch

BOTH = [HERE, DALI]
ERRORS = (RuntimeError, ValueError, TypeError, HERE.PixelmillError)
META = ["epoch_size", "epoch_size_padded", "number_of_shards", "shard_id", "pad_last_batch", "stick_to_shard"]


def reader(module, *, batch_size=3, **arguments):
    pipe = module.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, seed=1, prefetch_queue_depth=2)
    with pipe:
        pipe.set_outputs(*module.fn.readers.file(**arguments, name="Reader"))
    pipe.build()
    return pipe


def stream(pipe, batches):
    """Return contents and labels of so many batches."""
    rows = []
    for _ in range(batches):
        contents, labels = (numpy_batch(batch) for batch in pipe.run())
        rows += [(bytes(c), label.tolist(), label.dtype.name) for c, label in zip(contents, labels, strict=True)]
    return rows


def both_streams(batches=6, **arguments):
    mine, theirs = (stream(reader(module, **arguments), batches) for module in BOTH)
    return mine, theirs


def both_fail(**arguments):
    for module in BOTH:
        with pytest.raises(ERRORS):
            stream(reader(module, **arguments), 1)


@pytest.fixture
def folder(tmp_path):
    """Class folders with everything a reader has to look at twice."""
    names = [
        "b/2.jpg",
        "b/10.jpg",
        "b/1.JPG",
        "b/note.txt",
        "b/sub/deep.jpg",
        "a b/x y.png",
        "Z/1.jpeg",
        "a/.hidden.jpg",
    ]
    for name in [*names, "a/1.webp", "a/no_ending", "top.jpg", "é/ü.bmp"]:
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"content of {name}".encode())
    (tmp_path / "root" / "c_empty").mkdir()
    return tmp_path / "root"


# Which files


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"file_filters": ["*.jpg"]},
        {"file_filters": ["*.jpg"], "case_sensitive_filter": True},
        {"file_filters": "*.JPG", "case_sensitive_filter": True},
        {"file_filters": ["*.txt", "[0-9].*"]},
        {"file_filters": ["?.jpg"]},
        {"dir_filters": ["a*"]},
        {"dir_filters": ["z", "b"]},
        {"dir_filters": ["Z", "b"], "case_sensitive_filter": True},
    ],
    ids=str,
)
def test_files_of_a_folder_are_those_of_dali(folder, arguments):
    mine, theirs = both_streams(file_root=str(folder), **arguments)
    assert mine == theirs


def test_files_given_as_a_list_are_those_of_dali(folder):
    names = ["b/10.jpg", "a b/x y.png", "b/note.txt"]
    for arguments in ({"files": names}, {"files": names, "labels": [7, 0, 7]}):
        mine, theirs = both_streams(file_root=str(folder), **arguments)
        assert mine == theirs
    absolute = [str(folder / name) for name in names]
    mine, theirs = both_streams(files=absolute)
    assert mine == theirs


LISTS = {
    "plain": "b/2.jpg 3\nb/10.jpg 0\n",
    "no end": "b/2.jpg 3\nb/10.jpg 0",
    "blanks": "b/2.jpg    3   \n\n   \nb/10.jpg\t5\n",
    "spaces in names": "a b/x y.png 4\n",
    "crlf": "b/2.jpg 3\r\nb/10.jpg 0\r\n",
    "large": "b/2.jpg 2147483647\n",
}


@pytest.mark.parametrize("with_root", [False, True])
@pytest.mark.parametrize("text", LISTS.values(), ids=LISTS)
def test_lists_are_parsed_as_by_dali(folder, tmp_path, text, with_root):
    path = (tmp_path if with_root else folder) / "list.txt"
    path.write_bytes(text.encode())
    arguments = {"file_root": str(folder)} if with_root else {}
    mine, theirs = both_streams(file_list=str(path), **arguments)
    assert mine == theirs


@pytest.mark.parametrize("text", ["b/2.jpg\n", "b/2.jpg -1\n", "b/2.jpg x\n", "", "5\n", "b/2.jpg 1.5\n"], ids=repr)
def test_lists_that_dali_refuses_are_refused(folder, text):
    (folder / "list.txt").write_text(text)
    both_fail(file_list=str(folder / "list.txt"))


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"file_root": "/nowhere"},
        {"file_list": "/nowhere.txt"},
        {"files": []},
        {"files": ["a.jpg"], "labels": [1, 2]},
        {"file_root": ".", "file_filters": ["*.nothing"]},
        {"files": ["a.jpg"], "file_list": "b.txt"},
    ],
    ids=str,
)
def test_readers_refuse_what_dali_refuses(arguments):
    both_fail(**arguments)


def test_more_shards_than_files_are_refused_as_by_dali(folder):
    names = [str(folder / "b/2.jpg")] * 2
    both_fail(files=names, num_shards=3)
    both_fail(files=names, num_shards=2, shard_id=2)


# In which order


def numbered(folder, count):
    for number in range(count):
        (folder / f"{number}.jpg").write_bytes(bytes([number]))
    return [str(folder / f"{number}.jpg") for number in range(count)]


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("stick", [False, True])
def test_unshuffled_streams_are_dalis_over_three_epochs(tmp_path, pad, stick):
    """Every shard of 1 to 4 over 7 and 10 files, with batches of 2 and 3."""
    for count, shards, batch_size in product([7, 10], [1, 2, 3, 4], [2, 3]):
        names = numbered(tmp_path, count)
        for shard in range(shards):
            arguments = {"files": names, "num_shards": shards, "shard_id": shard, "batch_size": batch_size}
            arguments |= {"pad_last_batch": pad, "stick_to_shard": stick}
            batches = 3 * (-(-count // shards // batch_size) + 1)
            mine, theirs = both_streams(batches, **arguments)
            assert mine == theirs, arguments


@pytest.mark.parametrize("pad", [False, True])
@pytest.mark.parametrize("stick", [False, True])
def test_reader_meta_is_dalis(tmp_path, pad, stick):
    names = numbered(tmp_path, 7)
    for shards in (1, 2, 3):
        arguments = {"files": names, "num_shards": shards, "shard_id": shards - 1}
        mine, theirs = (reader(m, **arguments, pad_last_batch=pad, stick_to_shard=stick) for m in BOTH)
        assert mine.reader_meta("Reader") == {key: theirs.reader_meta("Reader")[key] for key in META}
        assert mine.reader_meta() == {"Reader": mine.reader_meta("Reader")}
        assert mine.epoch_size("Reader") == theirs.epoch_size("Reader")
        assert mine.epoch_size() == theirs.epoch_size()


def test_a_shuffled_epoch_holds_every_file_once_and_not_in_order(tmp_path):
    """DALI's own order is not copied; what a shuffle promises is."""
    pipe = reader(HERE, files=numbered(tmp_path, 40), random_shuffle=True, batch_size=10)
    epochs = [[label[0] for _, label, _ in stream(pipe, 4)] for _ in range(3)]
    assert all(sorted(epoch) == list(range(40)) for epoch in epochs)
    assert len({tuple(epoch) for epoch in [*epochs, range(40)]}) == 4


# external_source


def fed(module, source, *, batch_size=3, runs=4, depth=1, **arguments):
    """Run a source to its end and once again after `reset`; give what came, epoch by epoch."""
    pipe = module.Pipeline(batch_size=batch_size, num_threads=1, device_id=None, prefetch_queue_depth=depth)
    with pipe:
        nodes = module.fn.external_source(source=source, **arguments)
        pipe.set_outputs(*(nodes if isinstance(nodes, list) else [nodes]))
    pipe.build()
    epochs = []
    for _ in range(2):
        epochs.append([])
        try:
            for _ in range(runs):
                batch = pipe.run()
                epochs[-1].append([(out.layout(), out.shape(), np.array(out.as_array()).tolist()) for out in batch])
        except StopIteration:
            epochs[-1].append("end")
            pipe.reset()
    return epochs


def value(number, shape=(2,)):
    return np.full(shape, number, np.int32)


class Batches:
    """Iterable and not an iterator: every `iter` begins again."""

    def __iter__(self):
        return iter([[value(i)] * 3 for i in range(2)])


def generator():
    for i in range(2):
        yield [value(i)] * 3


def counted(limit):
    def source(number):
        if number >= limit:
            raise StopIteration
        return [value(number)] * 3

    return source


def sample(info):
    if info.iteration >= 2:
        raise StopIteration
    return value(info.idx_in_epoch * 100 + info.idx_in_batch * 10 + info.iteration + 1000 * info.epoch_idx)


SOURCES = {
    "list": lambda m: ([[value(1)] * 3, [value(2)] * 2], {}),
    "array": lambda m: ([np.arange(6, dtype=np.int32).reshape(3, 2)], {}),
    "iterable": lambda m: (Batches(), {}),
    "quiet": lambda m: (Batches(), {"cycle": "quiet"}),
    "true": lambda m: (Batches(), {"cycle": True}),
    "raise": lambda m: (Batches(), {"cycle": "raise"}),
    "generator function": lambda m: (generator, {}),
    "generator function quiet": lambda m: (generator, {"cycle": "quiet"}),
    "generator function raise": lambda m: (generator, {"cycle": "raise"}),
    "callable": lambda m: (lambda: [value(5)] * 3, {}),
    "callable with number": lambda m: (counted(2), {}),
    "callable with default": lambda m: (lambda number=7: [value(number)] * 3, {}),
    "batch info": lambda m: (lambda info: [value(info.iteration * 10 + info.epoch_idx)] * 3, {"batch_info": True}),
    "sample": lambda m: (sample, {"batch": False}),
    "sample without info": lambda m: (lambda: value(3), {"batch": False}),
    "several": lambda m: (lambda: ([value(1)] * 3, [value(2, (1,))] * 3), {"num_outputs": 2, "layout": ["A", "B"]}),
    "one layout": lambda m: (lambda: ([value(1)] * 3, [value(2)] * 3), {"num_outputs": 2, "layout": "A"}),
    "short layouts": lambda m: (lambda: ([value(1)] * 3, [value(2)] * 3), {"num_outputs": 2, "layout": ["A"]}),
    "one of several": lambda m: (lambda: ([value(1)] * 3,), {"num_outputs": 1}),
    "several samples": lambda m: (
        lambda info: (value(1), value(info.idx_in_batch)),
        {"num_outputs": 2, "batch": False},
    ),
    "checked": lambda m: (lambda: [value(1)] * 3, {"dtype": m.types.INT32, "ndim": 1}),
    "tensor list": lambda m: (lambda: m.tensors.TensorListCPU(np.arange(6, dtype=np.int32).reshape(3, 2)), {}),
    "small batch": lambda m: (lambda: [value(1)], {}),
}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("case", SOURCES)
def test_sources_are_asked_as_by_dali(case, depth):
    mine, theirs = (fed(m, SOURCES[case](m)[0], depth=depth, **SOURCES[case](m)[1]) for m in BOTH)
    assert mine == theirs


WRONG_SOURCES = {
    "large batch": (lambda m: (lambda: [value(1)] * 4, {})),
    "numbers": (lambda m: (lambda: [1.0, 2.0, 3.0], {})),
    "types differ": (lambda m: (lambda: [value(1), value(1).astype(np.float32), value(1)], {})),
    "axes differ": (lambda m: (lambda: [value(1), value(1, (1, 1)), value(1)], {})),
    "wrong type": (lambda m: (lambda: [value(1)] * 3, {"dtype": m.types.FLOAT})),
    "wrong axes": (lambda m: (lambda: [value(1)] * 3, {"ndim": 2})),
    "wrong layout": (lambda m: (lambda: [value(1)] * 3, {"layout": "HWC"})),
    "two arguments": (lambda m: (lambda a, b: [value(1)] * 3, {})),
    "any arguments": (lambda m: (lambda *a: [value(1)] * 3, {})),
    "cycled callable": (lambda m: (lambda: [value(1)] * 3, {"cycle": "quiet"})),
    "cycled generator": (lambda m: (generator(), {"cycle": "quiet"})),
    "wrong cycle": (lambda m: (Batches(), {"cycle": "often"})),
    "not a source": (lambda m: (5, {})),
}


@pytest.mark.parametrize("case", WRONG_SOURCES)
def test_sources_that_dali_refuses_are_refused(case):
    for module in BOTH:
        source, arguments = WRONG_SOURCES[case](module)
        with pytest.raises(ERRORS):
            fed(module, source, **arguments)


# Constants


CONSTANTS = {
    "int": lambda m: m.types.Constant(3),
    "float": lambda m: m.types.Constant(0.5),
    "bool": lambda m: m.types.Constant(True),
    "typed": lambda m: m.types.Constant(3, dtype=m.types.UINT8),
    "shaped": lambda m: m.types.Constant(3, dtype=m.types.UINT8, shape=(2, 2)),
    "list": lambda m: m.types.Constant([1, 2, 3]),
    "floats": lambda m: m.types.Constant([1.5, 2.5]),
    "array": lambda m: m.types.Constant(np.arange(6, dtype=np.int16).reshape(2, 3), layout="HW"),
    "python int": lambda m: 3,
    "python float": lambda m: 0.5,
    "python list": lambda m: [1, 2],
    "numpy": lambda m: np.array([1.5, 2.5], np.float64),
}


@pytest.mark.parametrize("case", CONSTANTS)
def test_constants_are_dalis(case):
    found = []
    for module in BOTH:
        pipe = module.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            cast = module.fn.cast(CONSTANTS[case](module), dtype=module.types.FLOAT64)
            same = module.fn.transpose(CONSTANTS[case](module), perm=[]) if "int" in case else None
            pipe.set_outputs(cast, *([same] if same is not None else []))
        pipe.build()
        found.append([(int(b.dtype), b.layout(), b.shape(), np.array(b.as_array()).tolist()) for b in pipe.run()])
    assert found[0] == found[1]
