"""The file of a pack: its bytes, damage of every one of them, forged indexes, wrong codebooks."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import tracemalloc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dataset_cases import encoded, mask_of, odd_samples, plain_samples, write
from file_damage import outcome

from pixelmill import _core, convert, verify
from pixelmill.errors import DataError
from pixelmill.formats import pack, tfrecord
from pixelmill.formats.columns import VALUES, column_index
from pixelmill.formats.containers import CONTAINERS
from pixelmill.formats.dataset import Dataset
from pixelmill.formats.example import Example, bytes_feature, decode, encode
from pixelmill.formats.index import Ragged
from pixelmill.formats.pack import index_section
from pixelmill.formats.pack.dataset import PackDataset
from pixelmill.formats.pack.frames import (
    ALIGNMENT,
    FOOTER_BYTES,
    HEAD_BYTES,
    HEADER_BYTES,
    Footer,
    Head,
    crc,
    decode_header,
    encode_header,
)
from pixelmill.formats.pack.scan import scan
from pixelmill.formats.pack.table import Table
from pixelmill.formats.pack.writer import PackWriter
from pixelmill.formats.registry import open_dataset
from pixelmill.formats.sample import Boxes, Sample

ROOMY = 16 << 20  # bytes that refusing a forged file may take


def small_samples() -> list[Sample]:
    """Return a packed image with everything, an array and an image of unknown type."""
    box = Boxes(np.array([[0.1, 0.2, 0.7, 0.9]], np.float32), np.array([3]))
    everything = Sample("a", encoded("jpeg", seed=1, size=(8, 8)), "jpg", (1, 0.5), "c", box, mask_of(1))
    return [
        Sample(**{**vars(everything), "extra": Example(year=bytes_feature(b"\0"))}),
        Sample("b", encoded("npy", seed=2, size=(1, 2)), "npy", (7,)),
        Sample("c", b"<html>", "jpg"),
    ]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "x", "pack", small_samples()) / "data.pack"


def read(path: Path) -> tuple[list[Sample], bool]:
    """Return the samples that can be read, and whether anything was wrong."""
    try:
        dataset = open_dataset(path)
    except DataError:
        return [], True
    found, complained = [], bool(dataset.faults)
    for number in range(len(dataset)):
        try:
            found.append(dataset.sample(number))
        except DataError:
            complained = True
    return found, complained


def split(data: bytes) -> tuple[bytes, bytes, Footer]:
    """Return what comes before the index, the index, and the footer."""
    footer = Footer.decode(data[-FOOTER_BYTES:], size=len(data))
    return data[: footer.index_offset], data[footer.index_offset : -FOOTER_BYTES], footer


def rejoined(start: bytes, index: bytes, samples: int) -> bytes:
    """Return a file with valid checksums, whatever its index says."""
    size = len(start) + len(index) + FOOTER_BYTES
    return start + index + Footer(crc(index), len(start), len(index), samples, size).encode()


def forged(data: bytes, **columns: Any) -> bytes:
    """Return the file with other columns in its index."""
    start, index, footer = split(data)
    table = index_section.decode(index, samples=footer.samples, begin=-1, end=footer.index_offset)
    return rejoined(start, index_section.encode(Table({**table.columns, **columns})), footer.samples)


def columns_of(data: bytes) -> dict[str, Any]:
    _, index, footer = split(data)
    table = index_section.decode(index, samples=footer.samples, begin=-1, end=footer.index_offset)
    return {name: column.copy() for name, column in table.columns.items()}


# Bytes


def test_the_bytes_of_the_fixed_structures() -> None:
    """Worked out by hand from docs/pack-format.md; the CRCs by the bitwise definition of CRC-32C."""
    header = struct.pack("<8sIIQI32x", b"\x89PMPACK\n", 1, 0, 64, 0)
    assert encode_header({}) == header + struct.pack("<I", _core.crc32c_portable(header))
    head = struct.pack("<8sQQQQQ7I16x", b"\x89PMSMPL\n", 2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
    made = Head(5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15).encode(2)
    assert made == head + struct.pack("<I", _core.crc32c_portable(head)) and len(made) == HEAD_BYTES == 96
    footer = struct.pack("<8sIIQQQQ12x", b"\x89PMTAIL\n", 1, 3, 64, 32, 0, 160)
    assert Footer(3, 64, 32, 0, 160).encode() == footer + struct.pack("<I", _core.crc32c_portable(footer))


def test_images_are_aligned_and_followed_by_readable_bytes(path: Path) -> None:
    dataset = open_dataset(path)
    images, masks = dataset.byte_ranges("image"), dataset.byte_ranges("mask")
    assert images is not None and masks is not None
    assert not (images.offsets % ALIGNMENT).any() and masks.lengths.tolist()[1:] == [0, 0]
    size = path.stat().st_size
    for ranges in (images, masks):
        assert (ranges.offsets + ranges.lengths + ALIGNMENT <= size).all()
    data = path.read_bytes()
    begin = int(masks.offsets[0])
    assert data[begin : begin + int(masks.lengths[0])] == small_samples()[0].mask
    begin = int(images.offsets[2])
    assert data[begin : begin + int(images.lengths[2])] == b"<html>"


def test_the_index_alone_describes_samples(path: Path) -> None:
    dataset = open_dataset(path)
    for number, sample in enumerate(small_samples()):
        without = Sample(**{**vars(sample), "image": b"", "mask": None})
        assert dataset.outline(number) == without
        assert dataset.has_mask(number) == (sample.mask is not None)
        assert dataset.description(number).labels == sample.labels


def test_columns_for_training_are_those_of_the_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over several files, they equal what the samples say one by one; no sample is looked at for them."""
    numbered = [sample for sample in odd_samples() if all(isinstance(label, int) for label in sample.labels)]
    numbered = [sample for sample in numbered if sample.boxes is None or sample.boxes.labels is not None]
    for number, samples in enumerate((numbered, [], plain_samples(3), numbered[::-1])):
        write(tmp_path / str(number), "pack", samples)
    dataset = open_dataset(f"{tmp_path}/*/data.pack")
    with monkeypatch.context() as patch:
        patch.setattr(PackDataset, "values", Dataset.values)
        expected = column_index(dataset, VALUES).columns
    with monkeypatch.context() as patch:
        patch.setattr(PackDataset, "description", None)
        found = column_index(dataset, VALUES).columns
    for name in VALUES:
        one, two = found[name], expected[name]
        assert isinstance(one, Ragged) and isinstance(two, Ragged)
        assert np.array_equal(one.rows, two.rows) and one.rows.dtype == two.rows.dtype
        assert np.array_equal(one.starts, two.starts) and one.starts.dtype == two.starts.dtype
    bare = Sample("bare", b"x", "bin", (0.5, 2), boxes=Boxes(np.zeros((1, 4), np.float32)))
    mixed = open_dataset(write(tmp_path / "mixed", "pack", [bare]))
    assert mixed.values("label") is None and mixed.values("box_label") is None
    target = mixed.values("target")
    assert target is not None and target[0].tolist() == [0.5, 2.0]


def test_an_address_is_read_in_two_ranges(path: Path) -> None:
    data = path.read_bytes()
    ranges: list[tuple[int, int]] = []

    def fetch(offset: int, length: int) -> bytes:
        ranges.append((offset, length))
        return data[offset : offset + length]

    found = scan("memory://x.pack", fetch, size=len(data))
    footer = split(data)[2]
    assert ranges == [(len(data) - FOOTER_BYTES, FOOTER_BYTES), (footer.index_offset, footer.index_length)]
    assert len(found.table) == 3 and not found.faults
    assert found.codebooks == decode_header(data[: int(found.table.columns["offset"][0])])


def test_unknown_fields_of_a_record_survive(tmp_path: Path) -> None:
    """A TFRecord converted to a pack and back has the same bytes, including unknown fields."""
    features = Example({"image/encoded": bytes_feature(encoded("jpeg", seed=1)), "x": bytes_feature(b"1", b"2")})
    features["image/filename"], features["image/format"] = bytes_feature(b"a.jpg"), bytes_feature(b"jpeg")
    features.unknown, features.features_unknown = b"\xa2\x06\x03abc", b"\x98\x06\x05"
    payload = encode(features)
    with (tmp_path / "x.tfrecord").open("wb") as stream, tfrecord.RecordWriter(stream) as writer:
        writer.write(payload)
    packed = open_dataset(write(tmp_path / "p", "pack", open_dataset(tmp_path / "x.tfrecord")))
    back = write(tmp_path / "b", "tfrecord", packed) / "data.tfrecord"
    (again,) = tfrecord.read_records(str(back))
    assert again == payload and decode(again).unknown == features.unknown


def test_bytes_depend_on_samples_alone(tmp_path: Path) -> None:
    one, two = (write(tmp_path / name, "pack", odd_samples()) / "data.pack" for name in ("1", "2"))
    assert one.read_bytes() == two.read_bytes()


def test_an_empty_pack(tmp_path: Path) -> None:
    path = write(tmp_path / "x", "pack", []) / "data.pack"
    dataset = open_dataset(path)
    assert len(dataset) == 0 and not dataset.faults


# Damage


def damages(data: bytes) -> Iterator[bytes]:
    """Yield damaged copies of the file: bytes changed, cut off, added or removed, in samples and elsewhere."""
    offset = int(columns_of(data)["offset"][0])
    _, _, footer = split(data)
    places = [place for place in range(len(data)) if offset <= place < footer.index_offset + 64 or place % 61 == 0]
    places += range(HEADER_BYTES + 40)
    places += range(len(data) - FOOTER_BYTES - 32, len(data))
    for place in places:
        yield data[:place] + bytes([data[place] ^ (1 << place % 8)]) + data[place + 1 :]
    for place in places[::16]:
        yield data[:place]
        yield data[:place] + b"\0" + data[place:]
        yield data[:place] + data[place + 1 :]


def test_every_damage_is_found_and_nothing_wrong_is_read(path: Path) -> None:
    whole = path.read_bytes()
    intact, complained = read(path)
    assert intact == small_samples() and not complained
    found: Counter[str] = Counter()
    for damaged in damages(whole):
        path.write_bytes(damaged)
        found[outcome(lambda _: read(path), damaged, intact)] += 1
    assert set(found) == {"found"} and found["found"] > 2000


def test_one_damaged_sample_loses_one_sample(tmp_path: Path) -> None:
    samples = plain_samples(6)
    path = write(tmp_path / "x", "pack", samples) / "data.pack"
    whole = path.read_bytes()
    index = open_dataset(path).index
    for number in range(6):
        begin, length = int(index.offsets[number]), int(index.lengths[number])
        for place in range(begin, begin + length, 37):
            for also in (b"", b"cut off"):  # the footer is damaged too: samples are found by their heads
                data = bytearray(whole)
                data[place] ^= 0x10
                path.write_bytes(data + also)
                left = [sample for at, sample in enumerate(samples) if at != number]
                assert read(path) == (left, True)


def test_verify_names_what_is_damaged(tmp_path: Path) -> None:
    samples = plain_samples(4)
    path = write(tmp_path / "x", "pack", samples) / "data.pack"
    assert verify(tmp_path / "x").is_whole
    data = bytearray(path.read_bytes())
    offset = int(open_dataset(path).index.offsets[2])
    data[offset + HEAD_BYTES + 50] ^= 1
    path.write_bytes(data)
    (problem,) = verify(tmp_path / "x").problems
    assert (problem.kind, problem.sample, problem.offset) == ("checksum", 2, offset)
    assert "image: the checksum does not match" in problem.message and problem.path == str(path)


# Hostile files

HUGE = (1 << 62, (1 << 63) - 1, (1 << 64) - 1)


def lies(columns: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield columns that cannot belong to the file."""
    for name, column in columns.items():
        if name == "codebook_data":
            continue
        yield name, column[:-1] if len(column) else np.zeros(3, column.dtype)
        if name != "extension_start":  # an empty extension that no sample has does no harm
            yield name, np.append(column, column[-1:]) if len(column) else np.ones(1, column.dtype)
    for name in columns:
        if name.endswith("_start"):
            yield name, columns[name] + columns[name].dtype.type(1)
            if len(columns[name]) > 2:  # ends well, but rises above the end and falls
                lie = columns[name].copy()
                lie[1] = lie[-1] + np.uint64(1)
                yield name, lie
            yield name, np.append(columns[name][:-1], np.uint64(1 << 63)).astype("<u8")
    for name in ("offset", "image_length", "mask_length", "row_length", "features_length"):
        for value in (int(columns[name][0]) + 32, 1 << 31, *HUGE):
            lie = columns[name].copy()
            lie[0] = value
            yield name, lie
    for name in ("extension", "class", "boxes_kind", "label_kind"):
        yield name, np.full_like(columns[name], np.iinfo(columns[name].dtype).max)
    yield "box", np.full_like(columns["box"], np.nan)
    yield "label", np.full_like(columns["label"], struct.unpack("<q", struct.pack("<d", np.inf))[0])
    yield "label", np.full_like(columns["label"], struct.unpack("<q", struct.pack("<d", 1e300))[0])


def test_forged_columns_are_refused_before_anything_is_allocated(path: Path) -> None:
    whole = path.read_bytes()
    tried = 0
    for name, lie in lies(columns_of(whole)):
        path.write_bytes(forged(whole, **{name: lie}))
        tracemalloc.start()
        dataset = open_dataset(path)
        assert tracemalloc.get_traced_memory()[1] < ROOMY, name
        tracemalloc.stop()
        assert dataset.faults and "index: " in dataset.faults[0].message, (name, lie)
        assert list(dataset) == small_samples(), name  # by their heads
        tried += 1
    assert tried > 100


@pytest.mark.parametrize("value", [0, 1, 31, 1 << 20, *HUGE])
def test_forged_footers_are_refused(path: Path, value: int) -> None:
    whole = path.read_bytes()
    start, index, footer = split(whole)
    for field in ("index_offset", "index_length", "samples", "file_size", "index_crc"):
        if field == "index_crc" and value >= 1 << 32:
            continue
        path.write_bytes(start + index + footer._replace(**{field: value}).encode())
        tracemalloc.start()
        dataset = open_dataset(path)
        assert tracemalloc.get_traced_memory()[1] < ROOMY
        tracemalloc.stop()
        assert dataset.faults and list(dataset) == small_samples()


def test_forged_directories_are_refused(path: Path) -> None:
    start, index, footer = split(path.read_bytes())
    for place in (*range(0, 16, 4), 32 + 24, 32 + 32, 32 + 36, 32 + 40, 32 + 44):
        for value in (1, 7, 0xFFFFFFFF):
            lie = bytearray(index)
            lie[place : place + 4] = struct.pack("<I", value)
            if lie == index or place == 4:
                continue
            path.write_bytes(rejoined(start, bytes(lie), footer.samples))
            dataset = open_dataset(path)
            assert dataset.faults, (place, value)
            assert list(dataset) == small_samples()


def test_heads_of_impossible_lengths_are_not_believed(path: Path) -> None:
    """Without an index, a head that claims more than there is loses its own sample only."""
    whole = path.read_bytes()
    offset = int(columns_of(whole)["offset"][1])
    decoded = Head.decode(whole[offset : offset + HEAD_BYTES])
    assert decoded is not None
    for field in ("image_length", "mask_length"):
        for value in (1 << 29, *HUGE):
            head = decoded[1]._replace(**{field: value}).encode(1)
            path.write_bytes(whole[:offset] + head + whole[offset + HEAD_BYTES : -1])
            tracemalloc.start()
            found, complained = read(path)
            assert tracemalloc.get_traced_memory()[1] < ROOMY
            tracemalloc.stop()
            assert complained and found[0] == small_samples()[0] and small_samples()[1] not in found


def test_headers_that_cannot_be_are_refused() -> None:
    good = encode_header({1: b"abc", 2: b"de"})
    assert decode_header(good) == {1: b"abc", 2: b"de"}
    for count, length in ((3, len(good)), (256, len(good)), (2, len(good) + 32), (2, 1 << 60), (1, len(good)), (2, 0)):
        fixed = struct.pack("<8sIIQI32x", pack.MAGIC, 1, count, length, crc(good[HEADER_BYTES:]))
        with pytest.raises(DataError):
            decode_header(fixed + struct.pack("<I", crc(fixed)) + good[HEADER_BYTES:])
    later = struct.pack("<8sIIQI32x", pack.MAGIC, 2, 0, HEADER_BYTES, 0)
    with pytest.raises(DataError, match=r"version 2 .* update pixelmill"):
        decode_header(later + struct.pack("<I", crc(later)))


def test_names_that_lead_out_are_not_paths(tmp_path: Path) -> None:
    """A key may be any text; whoever makes a file of it checks it as that of any archive."""
    samples = [Sample(name, encoded("jpeg", seed=1), "jpg") for name in ("../up", "/etc/x", "a\\b", "nul\0", "C:x")]
    dataset = open_dataset(write(tmp_path / "x", "pack", samples))
    assert [sample.key for sample in dataset] == [sample.key for sample in samples]
    convert(tmp_path / "x", tmp_path / "out" / "in", to="folder", workers=1)
    assert sorted(os.listdir(tmp_path / "out")) == ["in"]  # noqa: PTH208
    images = list((tmp_path / "out").rglob("*.jpg"))
    assert len(images) == 5 and all(path.name.startswith("sample-") for path in images)


# Codebooks


def other_codebook() -> bytes:
    return pack.train_codebook([encoded("jpeg", seed=seed, size=(64, 64)) for seed in range(3)], seed=1)


def test_a_wrong_codebook_is_named(tmp_path: Path) -> None:
    """The codebook is replaced in header and index, with right checksums: packed images cannot be restored any more."""
    samples = small_samples()
    path = write(tmp_path / "x", "pack", samples) / "data.pack"
    whole = path.read_bytes()
    other = other_codebook()
    identity = _core.PackCodebook(other).identity
    (old,) = columns_of(whole)["codebook_identity"].tolist()
    assert identity != old
    begin = int(columns_of(whole)["offset"][0])
    header = encode_header({identity: other})
    assert len(header) == begin
    changed = forged(
        header + whole[begin:],
        codebook_identity=np.array([identity], "<u8"),
        codebook_start=np.array([0, len(other)], "<u8"),
        codebook_data=np.frombuffer(other, "<u1"),
    )
    path.write_bytes(changed)
    dataset = open_dataset(path)
    assert not dataset.faults
    with pytest.raises(DataError, match=f"packed with codebook {old:016x}, which the file does not have"):
        dataset.sample(0)
    assert [dataset.sample(number) for number in (1, 2)] == samples[1:]
    (problem,) = [problem for problem in verify(path).problems if problem.sample == 0]
    assert "codebook" in problem.message
    path.write_bytes(header + whole[begin:])
    (fault,) = open_dataset(path).faults
    assert "different codebooks" in fault.message


def test_a_codebook_that_is_none_is_a_fault(path: Path) -> None:
    whole = path.read_bytes()
    columns = columns_of(whole)
    for data in (b"", b"x" * 40, bytes(columns["codebook_data"])[:-1] + b"\xff"):
        start = np.array([0, len(data)], "<u8")
        path.write_bytes(forged(whole, codebook_data=np.frombuffer(data, "<u1"), codebook_start=start))
        dataset = open_dataset(path)
        assert dataset.faults
        with pytest.raises(DataError, match="codebook"):
            dataset.sample(0)
        assert dataset.sample(1) == small_samples()[1]


def test_packed_bytes_are_what_the_core_reads(path: Path) -> None:
    dataset = open_dataset(path)
    assert isinstance(dataset, PackDataset)
    images = dataset.byte_ranges("image")
    assert images is not None
    stored = path.read_bytes()[int(images.offsets[0]) :][: int(images.lengths[0])]
    assert stored.startswith(pack.IMAGE_MAGIC) and pack.restore(stored) == small_samples()[0].image
    assert dataset.layout == "1 of 3 images packed"


def test_restored_files_are_compared_with_the_checksum_of_the_original(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A codec that restores another file, even one of the same length, is not believed."""
    dataset = open_dataset(path)
    image = small_samples()[0].image
    for wrong in (image[:-1], image + b"\0", image[:-3] + b"\0" + image[-2:]):
        monkeypatch.setattr("pixelmill.formats.pack.codec.restore", lambda _, wrong=wrong: wrong)
        with pytest.raises(DataError, match="does not match the checksum of the original"):
            dataset.sample(0)


def test_an_index_that_is_too_large_is_not_read(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelmill.formats.pack.scan.INDEX_BYTES", 1000)
    dataset = open_dataset(path)
    assert "the limit is 1000" in dataset.faults[0].message and list(dataset) == small_samples()


def test_samples_that_are_too_large_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pixelmill.formats.pack.writer.PART_BYTES", 100)
    writer = PackWriter(lambda _: io.BytesIO(), {"records": "x"})
    with pytest.raises(DataError, match="too large: image, mask, annotations, features have") as caught:
        writer.add(Sample("a", bytes(101), "bin"))
    assert caught.value.events[0].kind == "too_large"


def test_a_file_that_is_no_pack_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.pack").write_bytes(b"\x89PMPACK " + bytes(200))
    with pytest.raises(DataError, match="is not a pack"):
        open_dataset(tmp_path / "x.pack")


def test_files_are_scanned_once_and_keep_no_codebooks(path: Path) -> None:
    """A codebook has 16 kB, and its expanded form is kept once for the process."""
    dataset = PackDataset("x", files=[str(path)] * 3)
    assert len(dataset) == 9 and len({id(table) for table in dataset._tables}) == 1
    for column in dataset._tables[0].columns.values():
        assert column.base is None and column.nbytes < 1000  # a view would keep all of the index
    assert vars(dataset.sample(8)).keys() == vars(dataset.sample(2)).keys()
    assert [dataset.sample(number).image for number in (0, 3)] == [small_samples()[0].image] * 2


def test_other_containers_are_not_imported(path: Path) -> None:
    """They would take more memory than the index of many a dataset."""
    code = (
        "import sys; from pixelmill import fn, pipeline_def\n"
        "@pipeline_def\n"
        "def read(): return fn.readers.pack(path=sys.argv[1])['image']\n"
        "read(batch_size=1, num_threads=1, device_id=None).build(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    loaded = {name.split(".")[2] for name in done.stdout.split() if name.startswith("pixelmill.formats.")}
    assert loaded & set(CONTAINERS.values()) == {"pack"}
    assert not {"annotations", "foreign", "selection"} & loaded
    own = {name for name in done.stdout.split() if name.startswith("pixelmill.formats.pack.")}
    assert not {f"pixelmill.formats.pack.{name}" for name in ("recovery", "table_builder", "writer")} & own
