"""readers.mxnet and readers.webdataset against DALI, with index files of ours and of DALI's own tools."""

from __future__ import annotations

import io
import resource
import struct
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
from dali_runs import DALI, HERE, make, numpy_batch
from peers import needs

from pixelmill.errors import DataError
from pixelmill.experimental import dynamic
from pixelmill.formats import recordio, webdataset

BOTH = [HERE, DALI]
ERRORS = (RuntimeError, ValueError, TypeError, HERE.PixelmillError)
MAGIC = struct.pack("<I", 0xCED7230A)


def pipeline(module, build, *, batch_size=3, **options):
    return make(module, lambda m: build(m.fn), batch_size=batch_size, seed=1, **options)


def rows(pipe, batches):
    """Return all samples of so many batches, as plain values with their types."""
    found = []
    for _ in range(batches):
        columns = [numpy_batch(batch) for batch in pipe.run()]
        found += [
            [(value.dtype.str, value.shape, value.tolist()) for value in row] for row in zip(*columns, strict=True)
        ]
    return found


def streams(build, batches=4, **options):
    return [rows(pipeline(module, build, **options), batches) for module in BOTH]


# RecordIO


PAYLOADS = [
    ([3.0], b"first image"),
    ([1.0, 2.5, -4.0], b"image with three labels"),
    ([7.0], b""),
    ([8.0], b"1234" + MAGIC + b"5678"),
    ([9.0], MAGIC * 3),
    ([2.0, 3.0], b"unaligned " + MAGIC + b" magic"),
    ([5.0], bytes(range(256)) * 40),
]


def write_records(path, payloads, *, first=0):
    entries = []
    with path.open("wb") as stream, recordio.RecordWriter(stream) as writer:
        for number, (labels, image) in enumerate(payloads, start=first):
            entries.append((number, writer.write(recordio.pack(labels, number, image))[0]))
    recordio.write_index(path.with_suffix(".idx"), entries)
    return str(path), str(path.with_suffix(".idx"))


def mxnet(path, index_path, **arguments):
    return lambda fn: fn.readers.mxnet(path=path, index_path=index_path, **arguments, name="Reader")


@pytest.mark.parametrize("shards", [1, 2])
def test_records_are_those_of_dali(tmp_path, shards):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    mine, theirs = streams(mxnet(path, index, num_shards=shards, shard_id=shards - 1))
    assert mine == theirs
    assert len({str(row) for row in mine}) == len(PAYLOADS)


def test_records_are_found_without_an_index(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    with_index, without = (rows(pipeline(HERE, mxnet(path, given)), 3) for given in (index, None))
    assert with_index == without


def test_index_lines_in_any_order_are_read_as_by_dali(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    lines = Path(index).read_text().splitlines()
    Path(index).write_text("\n".join(reversed(lines)) + "\n")
    mine, theirs = streams(mxnet(path, index))
    assert mine == theirs


def test_a_part_of_the_records_can_be_listed(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    lines = Path(index).read_text().splitlines()
    Path(index).write_text("\n".join(lines[::2]) + "\n")
    found = rows(pipeline(HERE, mxnet(path, index), batch_size=4), 1)
    assert [bytes(row[0][2]) for row in found] == [image for _, image in PAYLOADS[::2]]


def test_several_files_with_one_index_are_one_stream_as_for_dali(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    data = Path(path).read_bytes()
    cut = int(Path(index).read_text().split()[5])
    (tmp_path / "b.rec").write_bytes(data[:cut])
    (tmp_path / "c.rec").write_bytes(data[cut:])
    mine, theirs = streams(mxnet([str(tmp_path / "b.rec"), str(tmp_path / "c.rec")], index))
    assert mine == theirs


def test_several_files_may_each_have_an_index(tmp_path):
    one = write_records(tmp_path / "a.rec", PAYLOADS[:3])
    two = write_records(tmp_path / "b.rec", PAYLOADS[3:])
    found = rows(pipeline(HERE, mxnet([one[0], two[0]], [one[1], two[1]]), batch_size=7), 1)
    assert [bytes(row[0][2]) for row in found] == [image for _, image in PAYLOADS]


def test_both_ways_to_shuffle_may_be_combined_as_in_dali(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    arguments = {"random_shuffle": True, "shuffle_after_epoch": True}
    for module in BOTH:
        found = rows(pipeline(module, mxnet(path, index, **arguments), batch_size=7), 1)
        assert sorted(bytes(row[0][2]) for row in found) == sorted(image for _, image in PAYLOADS)
    with pytest.raises(ERRORS):
        pipeline(HERE, mxnet(path, index, shuffle_after_epoch=True, stick_to_shard=True))


def test_source_info_of_records_is_dalis(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)

    def build(fn):
        image, _ = fn.readers.mxnet(path=path, index_path=index)
        return fn.get_property(image, key="source_info")

    mine, theirs = streams(build)
    assert mine == theirs


def test_an_index_of_another_file_is_refused(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    for text in ("0\t100000\n", "0\t4\n1\t12\n", "zero\tone\n", ""):
        Path(index).write_text(text)
        with pytest.raises(DataError, match=r"a\.(idx|rec)"):
            pipeline(HERE, mxnet(path, index))


@pytest.mark.parametrize("with_index", [True, False])
def test_a_damaged_record_is_named_and_replaced(tmp_path, with_index):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    offsets = [offset for _, offset in recordio.read_index(index)]
    data = bytearray(Path(path).read_bytes())
    data[offsets[3]] ^= 1
    Path(path).write_bytes(data)
    build = mxnet(path, index if with_index else None)
    with pytest.raises(DataError) as raised:
        rows(pipeline(HERE, build, batch_size=7), 1)
    (event,) = raised.value.events
    assert (event.path, event.offset, event.kind) == (path, offsets[3], "corrupt")
    pipe = pipeline(HERE, build, batch_size=7, on_error="skip")
    found = [bytes(row[0][2]) for row in rows(pipe, 1)]
    expected = [image for _, image in PAYLOADS]
    assert [a for n, a in enumerate(found) if n != 3] == [a for n, a in enumerate(expected) if n != 3]
    assert found[3] in expected
    assert pipe.errors.counts == {"corrupt": 1}


def test_more_labels_than_bytes_are_refused(tmp_path):
    payload = struct.pack("<IfQQ", 2**30, 0, 0, 0) + b"image"
    (tmp_path / "a.rec").write_bytes(recordio.frame(payload))
    with pytest.raises(DataError, match="labels"):
        rows(pipeline(HERE, mxnet(str(tmp_path / "a.rec"), None), batch_size=1), 1)


# WebDataset


MEMBERS = [
    ("a/one.jpg", b"first"),
    ("a/one.cls", b"1"),
    ("a/two.JPG", b"second"),
    ("a/two.cls", b"2"),
    ("three.left.png", b"left"),
    ("three.right.png", b"right"),
    ("three.cls", b"3"),
    (".hidden.jpg", b"hidden"),
    ("dir.v1/four.jpg", b"fourth"),
    ("dir.v1/four.jpeg", b"again"),
    ("dir.v1/four.cls", b"4444"),
    ("five.cls", b"5"),
    ("six.jpg", bytes(range(256)) * 5),
    ("six.cls", b""),
    ("one.jpg", b"another one"),
]


def write_tar(path, members=MEMBERS, *, form=None):
    if form is None:
        with path.open("wb") as stream:
            writer = webdataset.TarWriter(stream)
            for name, data in members:
                writer.write(name, data)
            writer.close()
    else:
        with tarfile.open(path, "w", format=form) as archive:
            for name, data in members:
                info = tarfile.TarInfo(name)
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    webdataset.write_index(path.with_suffix(".idx"), webdataset.scan(path).samples)
    return str(path), str(path.with_suffix(".idx"))


CASES = [
    {"ext": ["jpg", "cls"]},
    {"ext": "cls"},
    {"ext": ["jpg;JPG;left.png", "cls"]},
    {"ext": ["jpeg;jpg"]},
    {"ext": ["jpg;jpeg", "jpeg;jpg"]},
    {"ext": ["jpg", "cls"], "missing_component_behavior": "skip"},
    {"ext": ["jpg", "cls"], "missing_component_behavior": "empty"},
    {"ext": ["left.png", "right.png", "cls"], "missing_component_behavior": "skip"},
    {"ext": ["Jpg", "CLS"], "case_sensitive_extensions": False},
    {"ext": ["nothing"]},
]


@pytest.mark.parametrize("with_index", [True, False])
@pytest.mark.parametrize("arguments", CASES, ids=str)
def test_samples_are_those_of_dali(tmp_path, arguments, with_index):
    path, index = write_tar(tmp_path / "a.tar")
    given = {"index_paths": index} if with_index else {}
    mine, theirs = streams(lambda fn: fn.readers.webdataset(paths=path, **given, **arguments))
    assert mine == theirs


@pytest.mark.parametrize("form", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, None])
def test_archives_of_other_programs_are_read_as_by_dali(tmp_path, form):
    members = [*MEMBERS, ("é.jpg", b"accent")]
    if form != tarfile.PAX_FORMAT:  # DALI does not read the names of PAX headers
        members.append(("d" * 60 + "/" + "n" * 60 + ".jpg", b"long name"))
    if form in (None, tarfile.GNU_FORMAT):
        members.append(("m" * 150 + ".jpg", b"longer name"))
    path, _ = write_tar(tmp_path / "a.tar", members, form=form)
    mine, theirs = streams(lambda fn: fn.readers.webdataset(paths=path, ext=["jpg", "cls"]), 6)
    assert mine == theirs


def test_several_archives_and_shards_are_those_of_dali(tmp_path):
    one, two = write_tar(tmp_path / "a.tar"), write_tar(tmp_path / "b.tar", MEMBERS[4:])
    for shard in range(2):
        arguments = {"ext": ["jpg", "cls"], "num_shards": 2, "shard_id": shard}
        mine, theirs = streams(
            lambda fn, a=arguments: fn.readers.webdataset(paths=[one[0], two[0]], index_paths=[one[1], two[1]], **a), 5
        )
        assert mine == theirs


def test_the_index_of_another_archive_is_refused(tmp_path):
    """All that it lists lies after the end of the archive; an archive that was cut still has its first samples."""
    small, _ = write_tar(tmp_path / "small.tar", [("a.jpg", b"")])
    _, index = write_tar(tmp_path / "large.tar", [("a.jpg", bytes(50000)), ("b.jpg", b"x")])
    with pytest.raises(DataError, match=r"large\.idx is the index of another archive than .*small\.tar"):
        HERE.fn.readers.webdataset(paths=small, index_paths=index, ext=["jpg"])


@pytest.mark.parametrize("with_index", [True, False])
def test_source_info_of_samples_is_dalis(tmp_path, with_index):
    path, index = write_tar(tmp_path / "a.tar")
    given = {"index_paths": index} if with_index else {}

    def build(fn):
        pieces = fn.readers.webdataset(paths=path, ext=["jpg", "cls"], missing_component_behavior="skip", **given)
        return [fn.get_property(piece, key="source_info") for piece in pieces]

    mine, theirs = streams(build)
    assert mine == theirs


def test_types_are_those_of_dali(tmp_path):
    values = np.arange(6, dtype=np.float32)
    path, _ = write_tar(tmp_path / "a.tar", [("a.bin", values.tobytes()), ("b.bin", values[:2].tobytes())])
    mine, theirs = (
        rows(pipeline(m, lambda fn, m=m: fn.readers.webdataset(paths=path, ext=["bin"], dtypes=m.types.FLOAT)), 2)
        for m in BOTH
    )
    assert mine == theirs


def test_bytes_that_are_no_whole_elements_are_refused(tmp_path):
    path, _ = write_tar(tmp_path / "a.tar", [("a.bin", b"12345")])
    pipe = pipeline(HERE, lambda fn: fn.readers.webdataset(paths=path, ext=["bin"], dtypes=HERE.types.FLOAT))
    with pytest.raises(DataError, match="5 bytes"):
        pipe.run()


def test_one_extension_gives_one_node_as_in_dali(tmp_path):
    path, _ = write_tar(tmp_path / "a.tar")
    for module in BOTH:
        with module.Pipeline(batch_size=1, num_threads=1, device_id=None):
            one = module.fn.readers.webdataset(paths=path, ext=["jpg"])
            several = module.fn.readers.webdataset(paths=path, ext=["jpg", "cls"])
        assert type(one).__name__ == "DataNode" and len(several) == 2


def test_missing_files_are_errors_where_dali_says_so(tmp_path):
    path, _ = write_tar(tmp_path / "a.tar")
    for module in BOTH:
        with pytest.raises(ERRORS):
            pipeline(
                module,
                lambda fn: fn.readers.webdataset(paths=path, ext="jpg", missing_component_behavior="error"),
            ).run()


@needs("nvidia.dali")
def test_our_index_file_is_that_of_dalis_tool(tmp_path):
    members = [member for member in MEMBERS if member[0] != ".hidden.jpg"]
    path, index = write_tar(tmp_path / "a.tar", members)
    command = [sys.executable, "-m", "wds2idx", path, str(tmp_path / "dali.idx")]
    subprocess.run(command, check=True, capture_output=True)
    assert Path(index).read_bytes() == (tmp_path / "dali.idx").read_bytes()


def test_a_cut_archive_never_gives_a_part_of_a_sample(tmp_path):
    """Cut everywhere: every sample that comes is whole, and the rest is named."""
    members = [(f"{n}.{e}", f"{e}{n}".encode()) for n in range(4) for e in ("jpg", "cls")]
    path, _ = write_tar(tmp_path / "a.tar", members)
    data = Path(path).read_bytes()
    whole = [[f"jpg{n}".encode(), f"cls{n}".encode()] for n in range(4)]
    for length in range(1024, len(data), 256):
        Path(path).write_bytes(data[:length])
        pipe = pipeline(
            HERE,
            lambda fn: fn.readers.webdataset(paths=path, ext=["jpg", "cls"]),
            batch_size=6,
            on_error="skip",
        )
        try:
            found = rows(pipe, 1)
        except DataError:  # there is no whole sample to take the place
            assert length < 3072
            continue
        assert all([bytes(value[2]) for value in row] in whole for row in found), length
        complete = sum(length >= 2048 * (n + 1) - 508 for n in range(4))
        assert len({str(row) for row in found}) in (complete, complete - 1), length
        assert len(pipe.errors) >= 1 or length == len(data) - 512, length


def test_older_spellings_of_the_readers_are_there(tmp_path):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS)
    for reader in (HERE.ops.MXNetReader, HERE.ops.readers.MXNet):
        pipe = HERE.Pipeline(batch_size=2, num_threads=1, device_id=None)
        with pipe:
            pipe.set_outputs(*reader(path=path, index_path=index)())
        assert len(pipe.run()) == 2


# Hostile files in the native core


def peak_growth(pipe):
    """Run a pipeline that must fail; give its seconds and by how many MB the peak of memory grew."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    with pytest.raises(DataError) as raised:
        pipe.run()
    seconds = time.process_time() - begun
    return raised.value, seconds, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024


@pytest.mark.parametrize("length", [43, 2**16, 2**28, 2**29 - 1])
@pytest.mark.parametrize("flag", [0, 1, 2, 3, 7])
def test_forged_lengths_of_records_cost_neither_time_nor_memory(tmp_path, flag, length):
    path, index = write_records(tmp_path / "a.rec", PAYLOADS[:1])
    data = bytearray(Path(path).read_bytes())
    struct.pack_into("<I", data, 4, flag << 29 | length)
    Path(path).write_bytes(data)
    pipe = pipeline(HERE, mxnet(path, index), batch_size=1)
    error, seconds, growth = peak_growth(pipe)
    assert error.events[0].kind in ("truncated", "corrupt")
    assert seconds < 0.1
    assert growth < 16


@pytest.mark.parametrize("shape", ["(4294967296, 1)", "(0, 9223372036854775807)", "(1099511627776,)", "(65536, 65536)"])
def test_forged_shapes_of_arrays_cost_neither_time_nor_memory(tmp_path, shape):
    fields = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".encode()
    header = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(fields)) + fields
    (tmp_path / "a.npy").write_bytes(header + bytes(48))
    pipe = pipeline(HERE, lambda fn: fn.readers.numpy(file_root=str(tmp_path)), batch_size=1)
    error, seconds, growth = peak_growth(pipe)
    assert error.events[0].kind in ("truncated", "corrupt")
    assert seconds < 0.1
    assert growth < 16


def test_readers_of_one_output_work_outside_of_pipelines(tmp_path):
    np.save(tmp_path / "a.npy", np.arange(3))
    reader = dynamic.readers.Numpy(file_root=str(tmp_path))  # type: ignore[attr-defined]
    ((batch,),) = reader.next_epoch(batch_size=1)
    assert np.asarray(batch.tensors[0]).tolist() == [0, 1, 2]
