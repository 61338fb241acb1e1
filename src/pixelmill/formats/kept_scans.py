"""Scans of RecordIO files and of tar archives, taken from the cache of indexes where one of an earlier time fits."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pixelmill.formats import index_cache, recordio, storage, webdataset
from pixelmill.formats.faults import Scan
from pixelmill.formats.index import Array, Index
from pixelmill.formats.recordio_frames import MAGIC_BYTES
from pixelmill.formats.tar import BLOCK, Member, is_header
from pixelmill.formats.webdataset import TarSample, TarScan

CACHED_FROM = 8 << 20  # bytes; smaller files are scanned faster than a cache is looked up
SAMPLED = 16  # heads that are compared with a cache
_RECORDIO, _TAR = "recordio", "tar"


def scan_recordio(path: str) -> Scan:
    """Find the records of a RecordIO file; see `recordio.scan`."""
    stamp = _stamp(path)
    kept = index_cache.load(path, _RECORDIO, stamp=stamp) if stamp else None
    if stamp and kept and _fits_recordio(path, stamp[0], kept):
        return Scan(Index([path], np.zeros(len(kept["offsets"]), np.int64), kept["offsets"], kept["lengths"]))
    found = recordio.scan(path)
    if stamp and not found.faults:
        arrays = {"offsets": found.index.offsets, "lengths": found.index.lengths}
        index_cache.store(path, _RECORDIO, arrays, stamp=stamp)
    return found


def scan_tar(path: str) -> TarScan:
    """List the samples of an archive; see `webdataset.scan`."""
    stamp = _stamp(path)
    kept = index_cache.load(path, _TAR, stamp=stamp) if stamp else None
    if stamp and kept:
        samples = _tar_samples(path, stamp[0], kept)
        if samples is not None:
            return TarScan(path, samples, (), ())
    found = webdataset.scan(path)
    if stamp and not found.faults and found.samples:
        index_cache.store(path, _TAR, _tar_arrays(found.samples), stamp=stamp)
    return found


def _stamp(path: str) -> tuple[int, int] | None:
    """Give what a cache of a file is bound to, or None where the file is small or cannot be read."""
    try:
        stamp = index_cache.stamp_of(path)
    except OSError:
        return None
    return stamp if stamp[0] >= CACHED_FROM else None


def _fits_recordio(path: str, size: int, kept: dict[str, Array]) -> bool:
    """Tell whether records fill the file, and sampled ones begin as records do."""
    if kept.keys() != {"offsets", "lengths"} or len(kept["offsets"]) != len(kept["lengths"]):
        return False
    ends = np.cumsum(kept["lengths"])
    if not len(ends) or kept["lengths"].min() < len(MAGIC_BYTES) or ends[-1] != size:
        return False
    if not np.array_equal(ends[:-1], kept["offsets"][1:]) or kept["offsets"][0] != 0:
        return False
    return all(head == MAGIC_BYTES for head in _heads(path, kept["offsets"], len(MAGIC_BYTES)))


def _tar_arrays(samples: Sequence[TarSample]) -> dict[str, Array]:
    members = [member for sample in samples for member in sample.members]
    names = b"\0".join(member.name.encode("utf-8", "surrogateescape") for member in members)
    places = [(member.header, member.offset, member.size) for member in members]
    return {
        "places": np.array(places, np.int64).reshape(-1, 3),
        "counts": np.array([len(sample.members) for sample in samples], np.int64),
        "names": np.frombuffer(names, np.uint8),
    }


def _tar_samples(path: str, size: int, kept: dict[str, Array]) -> tuple[TarSample, ...] | None:
    """Rebuild the samples; None where they cannot be those of the archive."""
    if kept.keys() != {"places", "counts", "names"} or kept["places"].ndim != 2 or kept["places"].shape[1] != 3:
        return None
    places, counts = kept["places"], kept["counts"]
    names = kept["names"].tobytes().decode("utf-8", "surrogateescape").split("\0")
    if not len(counts) or counts.min() < 1 or counts.sum() != len(places) or len(names) != len(places):
        return None
    if places.min() < 0 or places.max() > size or (places[:, 1] > size - places[:, 2]).any():
        return None
    if not all(is_header(head) for head in _heads(path, places[:, 0], BLOCK)):
        return None
    members = [Member(name, *place) for name, place in zip(names, places.tolist(), strict=True)]
    samples, at = [], 0
    for count in counts.tolist():
        samples.append(TarSample(webdataset.split_name(members[at].name)[0], tuple(members[at : at + count])))
        at += count
    return tuple(samples)


def _heads(path: str, places: Array, length: int) -> list[bytes]:
    """Read some of the heads that an index tells of."""
    chosen = np.unique(np.linspace(0, len(places) - 1, SAMPLED).astype(np.int64))
    return [storage.read_range(path, int(places[item]), length) for item in chosen]
