"""readers.numpy, decoders.numpy and io.file.read against DALI and NumPy."""

from __future__ import annotations

import io

import numpy as np
import pytest
from dali_runs import DALI, HERE, numpy_batch

from pixelmill.errors import ArgumentError, DataError

BOTH = [HERE, DALI]
ERRORS = (RuntimeError, ValueError, TypeError, HERE.PixelmillError)
DTYPES = ["u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "f4", "f8", "b1"]


def pipeline(module, build, **options):
    pipe = module.Pipeline(batch_size=3, num_threads=2, device_id=None, seed=1, **options)
    with pipe:
        outputs = build(module.fn)
        pipe.set_outputs(*(outputs if isinstance(outputs, (tuple, list)) else [outputs]))
    pipe.build()
    return pipe


def stream(module, batches=2, **arguments):
    pipe = pipeline(module, lambda fn: fn.readers.numpy(**arguments, name="Reader"))
    rows = []
    for _ in range(batches):
        (batch,) = pipe.run()
        rows += [(row.dtype.str, row.shape, row.tolist()) for row in numpy_batch(batch)]
    return rows


def both(**arguments):
    mine, theirs = (stream(module, **arguments) for module in BOTH)
    assert mine == theirs


def both_fail(**arguments):
    for module in BOTH:
        with pytest.raises(ERRORS):
            stream(module, 1, **arguments)


@pytest.fixture
def arrays(tmp_path):
    """Arrays of one type and number of axes, every second in Fortran order."""
    rng = np.random.default_rng(3)
    paths = []
    for number in range(4):
        array = rng.integers(0, 200, (5 + number, 7, 3)).astype(np.float32)
        paths.append(str(tmp_path / f"{number}.npy"))
        np.save(paths[-1], np.asfortranarray(array) if number % 2 else array)
    return paths


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", DTYPES)
def test_arrays_are_those_of_dali(tmp_path, dtype, order):
    shape = {"C": (3, 4, 2), "F": (4, 3)}[order]
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    np.save(tmp_path / "a.npy", np.asarray(array, order=order))
    both(files=[str(tmp_path / "a.npy")])
    assert stream(HERE, 1, files=[str(tmp_path / "a.npy")])[0] == (array.dtype.str, shape, array.tolist())


@pytest.mark.parametrize("shape", [(), (0,), (1,), (0, 3), (2, 0, 3), (1, 1, 1, 1), (2, 1, 3, 1, 2)], ids=str)
@pytest.mark.parametrize("order", "CF")
def test_shapes_are_those_of_dali(tmp_path, shape, order):
    np.save(tmp_path / "a.npy", np.full(shape, 2.5, np.float32, order=order))
    both(files=[str(tmp_path / "a.npy")])


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("dtype", [">u2", ">i4", ">i8", ">f2", ">f4", ">f8", "<f4"])
@pytest.mark.parametrize("order", "CF")
def test_other_byte_orders_and_versions_are_read(tmp_path, dtype, version, order):
    """DALI reads neither big-endian arrays nor later versions; NumPy is the reference."""
    array = np.asarray(np.arange(24).reshape(2, 3, 4), dtype, order=order)
    with (tmp_path / "a.npy").open("wb") as file:
        np.lib.format.write_array(file, array, version=version)
    (first, *_) = stream(HERE, 1, files=[str(tmp_path / "a.npy")])
    assert first == (array.dtype.newbyteorder("=").str, array.shape, array.tolist())


REGIONS = [
    {"roi_start": [1, 2, 0], "roi_end": [4, 5, 3]},
    {"roi_start": [1, 2, 0], "roi_shape": [3, 3, 2]},
    {"roi_start": 1, "roi_shape": 2},
    {"roi_end": [3, 3, 1]},
    {"roi_shape": [3, 3, 1]},
    {"roi_start": [2], "roi_axes": [0]},
    {"roi_start": [2], "roi_end": [4], "roi_axes": [1]},
    {"roi_start": [2, 1], "roi_shape": [1, 3], "roi_axes": [2, 0]},
    {"roi_start": [-1], "roi_axes": [0], "out_of_bounds_policy": "pad"},
    {"rel_roi_start": [0.2, 0.3, 0.0], "rel_roi_end": [0.7, 0.9, 1.0]},
    {"rel_roi_start": [0.25], "rel_roi_shape": [0.5], "roi_axes": [0]},
    {"rel_roi_start": [0.1, 0.1], "roi_shape": [3, 4], "roi_axes": [0, 1]},
    {"roi_start": [1, 1], "rel_roi_shape": [0.5, 0.5], "roi_axes": [0, 1]},
    {"roi_start": [-2, -1, 0], "roi_end": [3, 9, 3], "out_of_bounds_policy": "pad", "fill_value": 7.5},
    {"roi_start": [-2, -1, 0], "roi_end": [3, 9, 3], "out_of_bounds_policy": "trim_to_shape"},
    {"roi_start": [3, 3, 1], "roi_end": [30, 9, 3], "out_of_bounds_policy": "pad"},
    {"roi_start": [30, 3, 1], "roi_shape": [2, 2, 1], "out_of_bounds_policy": "pad", "fill_value": -1},
    {"roi_start": [2, 2, 1], "roi_shape": [0, 2, 1]},
]


@pytest.mark.parametrize("region", REGIONS, ids=str)
def test_regions_are_those_of_dali(arrays, region):
    both(files=arrays, **region)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("policy", ["pad", "trim_to_shape"])
def test_regions_of_large_arrays_are_those_of_dali(tmp_path, order, policy):
    """Large enough to be read row by row."""
    array = np.arange(40 * 200 * 90, dtype=np.int32).reshape(40, 200, 90)
    np.save(tmp_path / "a.npy", np.asarray(array, order=order))
    for start, shape in ([3, 10, 5], [30, 20, 70]), ([-2, 190, -3], [9, 20, 5]), ([38, -5, 85], [4, 9, 7]):
        both(files=[str(tmp_path / "a.npy")], roi_start=start, roi_shape=shape, out_of_bounds_policy=policy, batches=1)


@pytest.mark.parametrize(
    "region",
    [
        {"roi_start": [1, 1], "roi_axes": [0, 0]},
        {"roi_start": [1, 2, 0], "roi_end": [4, 9, 3]},
        {"roi_start": [-1, 0, 0], "roi_shape": [2, 2, 2]},
        {"roi_start": [3, 0, 0], "roi_end": [2, 2, 2]},
        {"roi_start": [1], "rel_roi_start": [0.1], "roi_axes": [0]},
        {"roi_end": [1], "roi_shape": [1], "roi_axes": [0]},
        {"roi_start": [1, 2]},
        {"roi_start": [1], "roi_axes": [3]},
        {"roi_start": [1], "roi_axes": [0], "out_of_bounds_policy": "crop"},
    ],
    ids=str,
)
def test_regions_that_dali_refuses_are_refused(arrays, region):
    both_fail(files=arrays, **region)


def test_regions_may_differ_from_sample_to_sample(arrays):
    def build(fn):
        starts = fn.external_source(lambda info: np.array([info.idx_in_batch, 1], np.int32), batch=False)
        return fn.readers.numpy(files=arrays, roi_start=starts, roi_shape=[2, 3], roi_axes=[0, 1])

    mine, theirs = (numpy_batch(pipeline(module, build).run()[0]) for module in BOTH)
    assert [row.tolist() for row in mine] == [row.tolist() for row in theirs]


@pytest.fixture
def folder(tmp_path):
    names = ["b/2.npy", "b/10.npy", "a b/x.npy", "top.npy", "Z/1.npy", "b/sub/deep.npy", "!x/1.npy", "b/1.NPY"]
    for name in [*names, "b/.hidden.npy", "Atop.npy", "b/note.txt"]:
        path = tmp_path / "root" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            np.save(file, np.frombuffer(name.ljust(16).encode(), np.uint8))
    return tmp_path / "root"


@pytest.mark.parametrize("arguments", [{}, {"file_filter": "*.NPY"}, {"file_filter": "[0-9]*"}], ids=str)
def test_files_below_a_folder_are_those_of_dali(folder, arguments):
    both(batches=4, file_root=str(folder), **arguments)


@pytest.mark.parametrize("with_root", [False, True])
@pytest.mark.parametrize("text", ["b/2.npy\ntop.npy\n", "b/2.npy\n\ntop.npy", "a b/x.npy\n"], ids=repr)
def test_files_of_a_list_are_those_of_dali(folder, tmp_path, text, with_root):
    path = (tmp_path if with_root else folder) / "list.txt"
    path.write_text(text)
    both(file_list=str(path), **({"file_root": str(folder)} if with_root else {}))


def test_source_info_is_dalis(folder):
    (folder / "list.txt").write_text("b/2.npy\ntop.npy\n")
    cases = [{"file_root": str(folder)}, {"file_list": str(folder / "list.txt")}]
    cases += [{"files": ["b/2.npy", "top.npy"], "file_root": str(folder)}, {"files": [str(folder / "b/2.npy")]}]  # type: ignore[dict-item]
    for arguments in cases:
        found = []
        for module in BOTH:
            pipe = pipeline(module, lambda fn, a=arguments: fn.get_property(fn.readers.numpy(**a), key="source_info"))
            found.append([bytes(row) for _ in range(3) for row in numpy_batch(pipe.run()[0])])
        assert found[0] == found[1]


def test_arguments_that_dali_refuses_are_refused(folder):
    for arguments in [{}, {"file_root": "/nowhere"}, {"files": []}, {"files": ["a.npy"], "file_list": "b.txt"}]:
        both_fail(**arguments)


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


GOOD = npy(np.arange(12, dtype=np.int32).reshape(3, 4))
BAD = {
    "empty": b"",
    "cut in the magic": GOOD[:4],
    "cut in the header": GOOD[:40],
    "cut in the elements": GOOD[:-1],
    "too long": GOOD + b"\0",
    "no npy": b"PK" + GOOD[2:],
    "version": GOOD[:6] + b"\x04" + GOOD[7:],
    "objects": GOOD.replace(b"'<i4'", b"'|O' "),
    "fields": GOOD.replace(b"'<i4'", b"'V12'"),
    "complex": GOOD.replace(b"'<i4'", b"'<c8'"),
    "negative": GOOD.replace(b"(3, 4)", b"(-3,4)"),
    "huge": GOOD.replace(b"(3, 4), }" + b" " * 20, b"(9223372036854775807, 4), }  "),
    "overflow": GOOD.replace(b"(3, 4), }" + b" " * 20, b"(4294967296, 4294967296), }  "),
    "code": GOOD.replace(b"(3, 4), }" + b" " * 20, b"__import__('os').abort(), }  "),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_files_are_named_and_can_be_skipped(tmp_path, case):
    assert BAD[case] != GOOD
    (tmp_path / "0.npy").write_bytes(GOOD)
    (tmp_path / "1.npy").write_bytes(BAD[case])
    (tmp_path / "2.npy").write_bytes(GOOD)
    for policy in ("raise", "skip"):
        pipe = pipeline(HERE, lambda fn: fn.readers.numpy(file_root=str(tmp_path)), on_error=policy)
        if policy == "raise":
            with pytest.raises(DataError, match=r"1\.npy"):
                pipe.run()
            continue
        (batch,) = pipe.run()
        assert [row.tolist() for row in numpy_batch(batch)] == [np.arange(12).reshape(3, 4).tolist()] * 3
        assert pipe.errors.events[0].path.endswith("1.npy")


def test_filling_keeps_shape_and_type_of_a_cut_array(tmp_path):
    (tmp_path / "0.npy").write_bytes(GOOD)
    (tmp_path / "1.npy").write_bytes(GOOD[:-5])
    pipe = pipeline(HERE, lambda fn: fn.readers.numpy(file_root=str(tmp_path)), on_error="fill")
    rows = numpy_batch(pipe.run()[0])
    assert rows[1].tolist() == np.zeros((3, 4)).tolist()
    assert rows[1].dtype == np.int32


@pytest.mark.parametrize("dtype", [None, "FLOAT16", "UINT8"])
def test_decoded_bytes_are_those_of_dali(dtype):
    data = np.frombuffer(npy(np.arange(6, dtype=np.float32).reshape(2, 3)), np.uint8)
    found = []
    for module in BOTH:
        arguments = {} if dtype is None else {"dtype": getattr(module.types, dtype)}
        pipe = pipeline(
            module, lambda fn, a=arguments: fn.decoders.numpy(fn.external_source(lambda: data, batch=False), **a)
        )
        found.append([(row.dtype.str, row.tolist()) for row in numpy_batch(pipe.run()[0])])
    assert found[0] == found[1]


def test_bytes_in_fortran_order_are_decoded_as_by_numpy():
    """DALI needs a GPU to decode these."""
    array = np.asfortranarray(np.arange(24, dtype=np.int16).reshape(2, 3, 4))
    data = np.frombuffer(npy(array), np.uint8)
    pipe = pipeline(HERE, lambda fn: fn.decoders.numpy(fn.external_source(lambda: data, batch=False)))
    assert [row.tolist() for row in numpy_batch(pipe.run()[0])] == [array.tolist()] * 3


def test_files_named_by_bytes_are_read_as_by_dali(tmp_path):
    names = []
    for number in range(3):
        (tmp_path / f"{number} é.bin").write_bytes(bytes(range(number * 5)) + b"x")
        names.append(np.frombuffer(str(tmp_path / f"{number} é.bin").encode(), np.uint8))

    def build(fn):
        return fn.io.file.read(fn.external_source(lambda info: names[info.idx_in_batch], batch=False))

    mine, theirs = (numpy_batch(pipeline(module, build).run()[0]) for module in BOTH)
    assert [bytes(row) for row in mine] == [bytes(row) for row in theirs]


def test_older_spellings_are_there(arrays):
    for make in (HERE.ops.NumpyReader, HERE.ops.readers.Numpy):
        pipe = HERE.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(make(files=arrays)())
        assert len(pipe.run()[0]) == 2


def test_a_reader_without_files_is_refused():
    with pytest.raises(ArgumentError, match=r"readers\.numpy needs file_root, file_list or files"):
        HERE.fn.readers.numpy()
