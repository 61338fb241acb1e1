"""tf.train.Example against TensorFlow's own, field by field, and against messages that no program should write."""

from __future__ import annotations

import io
import struct
import time

import numpy as np
import pytest
import tensorflow as tf
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from pixelmill.errors import ArgumentError, DataError
from pixelmill.formats import tfrecord
from pixelmill.formats.example import Example, Feature, bytes_feature, decode, encode, float_feature, int64_feature

INT64 = st.integers(-(2**63), 2**63 - 1)
FLOAT32 = st.floats(width=32, allow_nan=False)

features = st.one_of(
    st.lists(st.binary(max_size=20), max_size=4).map(lambda values: bytes_feature(*values)),
    st.lists(INT64, max_size=5).map(int64_feature),
    st.lists(FLOAT32, max_size=5).map(float_feature),
    st.just(Feature(None, [])),
)
examples = st.dictionaries(st.text(max_size=10), features, max_size=6)


def tensorflow_example(ours: dict[str, Feature]) -> tf.train.Example:
    message = tf.train.Example()
    message.features.SetInParent()
    for name, feature in ours.items():
        theirs = message.features.feature[name]
        if feature.kind is not None:
            values = getattr(theirs, f"{feature.kind}_list")
            values.SetInParent()
            values.value.extend(list(feature.values))
    return message


def from_tensorflow(message: tf.train.Example) -> dict[str, tuple[str | None, list[object]]]:
    made = {}
    for name, feature in message.features.feature.items():
        kind = feature.WhichOneof("kind")
        made[name] = (kind and kind.removesuffix("_list"), list(getattr(feature, kind).value) if kind else [])
    return made


def plain(ours: Example) -> dict[str, tuple[str | None, list[object]]]:
    return {name: (feature.kind, np.array(feature.values, object).tolist()) for name, feature in ours.items()}


def varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def entry(name: bytes, feature: bytes) -> bytes:
    return field(1, field(1, name) + field(2, feature))


# Both ways


@given(examples)
def test_tensorflow_reads_what_we_write(ours: dict[str, Feature]) -> None:
    assert tf.train.Example.FromString(encode(ours)) == tensorflow_example(ours)


@given(examples)
def test_we_read_what_tensorflow_writes(ours: dict[str, Feature]) -> None:
    assert decode(tensorflow_example(ours).SerializeToString()) == ours


@given(examples)
def test_bytes_depend_on_nothing_but_the_features(ours: dict[str, Feature]) -> None:
    for name, feature in ours.items():
        assert encode({name: feature}) == tensorflow_example({name: feature}).SerializeToString()
    assert encode(dict(reversed(ours.items()))) == encode(ours)


@pytest.mark.parametrize("count", [0, 1, 2, 1000])
def test_numbers_of_values(count: int) -> None:
    ours = {
        "bytes ü 漢字 \U0001f600": bytes_feature(*[f"ä{i}" for i in range(count)]),
        "floats": float_feature(np.linspace(-1, 1, count)),
        "integers": int64_feature(np.arange(count) - 5),
        "": int64_feature([]),
    }
    message = tf.train.Example.FromString(encode(ours))
    assert from_tensorflow(message) == plain(decode(message.SerializeToString()))
    assert decode(encode(ours)) == ours


def test_tensorflow_parses_our_examples() -> None:
    ours = {"image": bytes_feature(b"\0\xff"), "label": int64_feature(-7), "box": float_feature([0.5, 1.5])}
    wanted = {
        "image": tf.io.FixedLenFeature([], tf.string),
        "label": tf.io.FixedLenFeature([], tf.int64),
        "box": tf.io.VarLenFeature(tf.float32),
    }
    parsed = tf.io.parse_single_example(encode(ours), wanted)
    assert (parsed["image"].numpy(), int(parsed["label"])) == (b"\0\xff", -7)
    assert tf.sparse.to_dense(parsed["box"]).numpy().tolist() == [0.5, 1.5]


@given(examples)
def test_writer_encodes_on_the_way(ours: dict[str, Feature]) -> None:
    stream = io.BytesIO()
    with tfrecord.RecordWriter(stream) as writer:
        writer.write_example(ours)
    assert stream.getvalue() == tfrecord.frame(encode(ours))


@pytest.mark.parametrize(
    ("feature", "message"),
    [
        (Feature("float", np.zeros(3)), "feature 'a' needs an array of float32"),
        (Feature("int64", np.zeros(3, np.uint64)), "feature 'a' needs an array of int64"),
        (Feature("int64", np.zeros(3, ">i8")), "feature 'a' needs an array of int64"),
        (Feature("float", np.zeros((4, 4), np.float32)[:, 1]), "feature 'a' needs an array without gaps"),
        (Feature("bytes", ["text"]), "bytes-like object is required"),
        (Feature("float", [1.0]), "bytes-like object is required"),
        (Feature("words", []), "feature 'a' has no kind of list"),
    ],
)
def test_features_that_cannot_be_written_are_refused(feature: Feature, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        encode({"a": feature})
    stream = io.BytesIO()
    with tfrecord.RecordWriter(stream) as writer:
        with pytest.raises(ArgumentError, match=message):
            writer.write_example({"a": feature})
        writer.write_example({"a": int64_feature(1)})
    assert list(decode(tfrecord.payload(stream.getvalue()))) == ["a"]


def test_types_of_decoded_values() -> None:
    made = decode(encode({"a": float_feature(1), "b": int64_feature(2), "c": bytes_feature("d")}))
    assert [feature.values.dtype.name for feature in (made["a"], made["b"])] == ["float32", "int64"]
    assert made["c"].values == [b"d"]


def test_wrong_values_are_refused() -> None:
    with pytest.raises(ArgumentError, match="must be integers"):
        int64_feature([1.5])  # type: ignore[list-item]


# Other spellings of the same message


def test_numbers_may_come_one_by_one_and_in_pieces() -> None:
    one, two_three, four = struct.pack("<f", 1), struct.pack("<ff", 2, 3), struct.pack("<f", 4)
    floats = field(2, b"\x0d" + one + field(1, two_three) + b"\x0d" + four)
    integers = field(3, b"\x08\x01" + field(1, b"\x02\x03") + b"\x08\x04")
    for name, data in (("f", floats), ("i", integers)):
        payload = field(1, entry(name.encode(), data))
        assert list(decode(payload)[name].values) == [1, 2, 3, 4]
        assert plain(decode(payload)) == from_tensorflow(tf.train.Example.FromString(payload))


def test_pieces_of_a_message_are_joined_and_the_last_kind_wins() -> None:
    text, number = field(1, field(1, b"x")), field(3, b"\x08\x05")
    for feature in (text + text, text + number, number + text + number, number + number + text):
        payload = field(1, entry(b"a", feature))
        assert plain(decode(payload)) == from_tensorflow(tf.train.Example.FromString(payload))
    halves = field(1, field(1, b"a") + field(2, number) + field(2, number))
    assert plain(decode(field(1, halves))) == from_tensorflow(tf.train.Example.FromString(field(1, halves)))


def test_last_of_equal_names_wins() -> None:
    first, second = entry(b"a", field(3, b"\x08\x01")), entry(b"a", field(2, b"\x0d\0\0\0\0"))
    for payload in (field(1, first + second), field(1, second) + field(1, first), field(1, first + second + first)):
        assert plain(decode(payload)) == from_tensorflow(tf.train.Example.FromString(payload))


def test_unknown_fields_survive() -> None:
    group = b"\x2b\x08\x01\x33\x12\x02xy\x34\x2c"
    odd = field(9, b"new") + group
    payload = field(1, entry(b"a", field(1, field(1, b"x") + field(7, b"in list")) + odd) + field(8, b"beside")) + odd
    again = encode(decode(payload))
    assert again == encode(decode(again))
    for piece in (b"new", b"in list", b"beside", group):
        assert again.count(piece) == payload.count(piece)
    assert tf.train.Example.FromString(again).features == tf.train.Example.FromString(payload).features


# Hostile ones


@given(st.binary(max_size=60))
def test_any_bytes_give_features_or_a_data_error(data: bytes) -> None:
    try:
        ours = plain(decode(data))
    except DataError as error:
        assert error.events[0].kind in ("corrupt", "too_large")
        return
    assert ours == from_tensorflow(tf.train.Example.FromString(data))


@given(examples.filter(bool), st.data())
def test_cut_and_changed_messages_mean_what_protobuf_says(ours: dict[str, Feature], data: st.DataObject) -> None:
    payload = bytearray(encode(ours))
    position = data.draw(st.integers(0, len(payload) - 1))
    if data.draw(st.booleans()):
        del payload[position:]
    else:
        payload[position] = data.draw(st.integers(0, 255))
    try:
        theirs = from_tensorflow(tf.train.Example.FromString(bytes(payload)))
    except DecodeError:
        with pytest.raises(DataError):
            decode(bytes(payload))
        return
    try:
        mine = plain(decode(bytes(payload)))
    except DataError as error:  # stricter in a few things, never in silence
        assert "a wrong" in str(error) or "group" in str(error)
        return
    assert repr(mine) == repr({name: theirs[name] for name in mine}) and mine.keys() == theirs.keys()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"\x0a", "a wrong length"),
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "a field of 18446744073709551615 bytes where 0 are left"),
        (b"\x0a\x80\x80\x80\x80\x08", "a field of 2147483648 bytes where 0 are left"),
        (b"\x0a" + b"\xff" * 11, "a wrong length"),
        (b"\x00", "a wrong tag"),
        (b"\x0f", "a field of no kind"),
        (b"\x0c", "a field of no kind"),
        (b"\x13" * 101, "groups nested too deep"),
        (b"\x13\x1c", "the end of another group"),
        (b"\x13", "a wrong tag"),
        (field(1, entry(b"a", field(2, field(1, b"\0\0\0")))), "feature 'a': a list of floats is cut"),
        (field(1, entry(b"a", field(3, field(1, b"\x80")))), "feature 'a': a wrong number in a list of int64"),
        (field(1, entry(b"\xff", b"")), "is not UTF-8"),
    ],
)
def test_what_is_wrong_is_said(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        decode(data)


def test_more_features_than_the_limit_are_refused() -> None:
    entries = b"".join(entry(b"%d" % number, b"") for number in range(65_536))
    assert len(decode(field(1, entries))) == 65_536
    with pytest.raises(DataError, match="more than 65536 features") as caught:
        decode(field(1, entries + entry(b"one more", b"")))
    assert caught.value.events[0].kind == "too_large"


def test_a_hundred_megabytes_are_a_list_like_any_other() -> None:
    value = bytes(100_000_000)
    start = time.process_time()
    assert decode(encode({"a": bytes_feature(value)}))["a"].values == [value]
    assert time.process_time() - start < 5
