"""The npy format against NumPy, damaged files, forged headers."""

from __future__ import annotations

import io
import struct
import time
import tracemalloc

import numpy as np
import pytest
from file_damage import changed, cut, table, with_one_less, with_one_more
from hypothesis import given
from hypothesis.extra import numpy as arrays

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import npy

kinds = arrays.boolean_dtypes() | arrays.integer_dtypes() | arrays.unsigned_integer_dtypes()
dtypes = kinds | arrays.integer_dtypes(endianness=">") | arrays.floating_dtypes(sizes=(16, 32, 64))
dtypes |= arrays.complex_number_dtypes(sizes=(64, 128))  # type: ignore[operator]
any_array = arrays.arrays(dtypes, arrays.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=4))


def saved(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype.newbyteorder("=") and a.tobytes() == np.array(b, a.dtype).tobytes()


@given(any_array)
def test_numpy_reads_what_we_write(array):
    assert npy.encode(array) == saved(np.ascontiguousarray(array).reshape(array.shape))


@given(any_array)
def test_we_read_what_numpy_writes(array):
    assert same(npy.decode(saved(array)), array)
    assert same(npy.decode(saved(np.asfortranarray(array).reshape(array.shape, order="A"))), array)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_all_versions_are_read(version):
    array = np.asfortranarray(np.arange(12, dtype=">i4").reshape(3, 4))
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, version=version)
    assert same(npy.decode(stream.getvalue()), array)
    header = npy.read_header(io.BytesIO(stream.getvalue()))
    assert (header.shape, header.fortran, header.dtype.str) == ((3, 4), True, ">i4")
    assert header == npy.read_header(stream.getvalue())
    assert header.data_offset + header.nbytes == len(stream.getvalue())


def with_header(text, *, version=1, data=bytes(48)):
    encoded = text.encode("latin1")
    length = struct.pack("<H" if version == 1 else "<I", len(encoded))
    return b"\x93NUMPY" + bytes((version, 0)) + length + encoded + data


FIELDS = "{'descr': %s, 'fortran_order': %s, 'shape': %s}"
REFUSED = {
    "objects": FIELDS % ("'|O'", "False", "(6,)"),
    "fields": FIELDS % ("[('a', '<i4')]", "False", "(6,)"),
    "text": FIELDS % ("'<U4'", "False", "(3,)"),
    "dates": FIELDS % ("'<M8[s]'", "False", "(6,)"),
    "long floats": FIELDS % ("'<f16'", "False", "(3,)"),
    "negative": FIELDS % ("'<i8'", "False", "(-6,)"),
    "fraction": FIELDS % ("'<i8'", "False", "(6.0,)"),
    "flag": FIELDS % ("'<i8'", "False", "(True,)"),
    "number": FIELDS % ("'<i8'", "False", "6"),
    "list": FIELDS % ("'<i8'", "False", "[6]"),
    "many axes": FIELDS % ("'<i8'", "False", "(" + "1," * 33 + ")"),
    "no flag": FIELDS % ("'<i8'", "1", "(6,)"),
    "call": FIELDS % ("'<i8'", "False", "__import__('os').abort()"),
    "missing": "{'descr': '<i8', 'shape': (6,)}",
    "more": FIELDS[:-1] % ("'<i8'", "False", "(6,)") + ", 'x': 1}",
    "nothing": "",
    "a set": "{{}}",
    "no dictionary": "[1, 2]",
    "deep": "(" * 5000,
    "zero": "{'descr': '<i8', \0}",
    "escape": FIELDS % ("'\\d'", "False", "(6,)"),
    "digits": FIELDS % ("'<i8'", "False", "(" + "9" * 5000 + ",)"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("version", [1, 2, 3])
def test_headers_that_are_not_plain_are_refused(case, version):
    with pytest.raises(DataError, match="npy"):
        npy.decode(with_header(REFUSED[case], version=version))


EXTENTS = [0, 1, 5, 7, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64 - 1, 2**70]


@pytest.mark.parametrize("shape", ["(%d,)", "(%d, 6)", "(%d, %d)", "(0, %d)"])
@pytest.mark.parametrize("extent", EXTENTS)
def test_forged_shapes_cost_neither_time_nor_memory(extent, shape):
    text = FIELDS % ("'<i8'", "False", shape % ((extent,) * shape.count("%")))
    tracemalloc.start()
    begun = time.process_time()
    if (extent, shape) == (1, "(%d, 6)"):
        assert npy.decode(with_header(text)).shape == (1, 6)
    else:
        with pytest.raises(DataError):
            npy.decode(with_header(text))
    seconds, (_, peak) = time.process_time() - begun, tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert seconds < 0.1
    assert peak < 2**20


@pytest.mark.parametrize("length", [0, 1, 2**16 + 1, 2**31, 2**32 - 1])
def test_forged_header_lengths_are_refused(length):
    data = bytearray(with_header(FIELDS % ("'<i8'", "False", "(6,)"), version=2))
    struct.pack_into("<I", data, 8, length)
    for source in (bytes(data), io.BytesIO(bytes(data))):
        with pytest.raises(DataError):
            npy.read_header(source)


def test_object_arrays_are_not_written():
    with pytest.raises(ArgumentError):
        npy.encode(np.array([None]))


ARRAY = np.arange(6, dtype=np.int16).reshape(2, 3)


def read(data):
    try:
        return [(lambda a: (a.shape, a.dtype.str, a.tolist()))(npy.decode(data))], False
    except DataError:
        return [], True


def test_every_truncation_and_every_byte_too_many_or_too_few_is_found():
    data = saved(ARRAY)
    for damages in (cut(data), with_one_less(data), with_one_more(data)):
        counts = table(read, data, damages)
        assert counts["silent"] == counts["found, wrong"] == 0 or set(counts) <= {"found", "harmless", "silent"}
    assert set(table(read, data, cut(data))) == {"found"}


def test_most_changed_bytes_of_the_header_are_found():
    data = saved(ARRAY)
    counts = table(read, data, (damaged + data[128:] for damaged in changed(data[:128], [1, 2, 4, 8, 16, 32, 64, 128])))
    assert counts["found, wrong"] == 0
    assert counts["silent"] <= 0.03 * counts.total()
