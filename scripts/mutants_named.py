"""Changes that no test noticed once, each with the tests that must notice it now: `make mutants ARGS=--named`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from mutants_sources import Mutant


@dataclass(frozen=True)
class Named:
    """A change that is described by its text, so that it survives edits elsewhere in the file.

    Attributes:
        what: What the change breaks.
        path: The file, relative to the root of the repository.
        old: The text to replace, which occurs once in the file.
        new: What takes its place.
        tests: The test file that must notice it.
    """

    what: str
    path: str
    old: str
    new: str
    tests: str

    def mutant(self, root: Path) -> Mutant:
        """Return the change as one of the sources that lie at `root`."""
        text = (root / self.path).read_text("utf-8")
        if text.count(self.old) != 1:
            raise LookupError(f"{self.path}: {self.old!r} occurs {text.count(self.old)} times; update mutants_named.py")
        start = text.index(self.old)
        return Mutant(Path(self.path), start, start + len(self.old), self.new, self.what)


_POOL, _BATCH = "native/core/worker_pool.cpp", "native/core/batch.cpp"
_FORK = "tests/engine/test_forked_pools.py"

NAMED = (
    Named(
        "a resized box counts as cut off",
        "src/pixelmill/recipe/geometry.py",
        "whole *= abs(np.linalg.det(transform[0][:2, :2] / transform[0][2, 2]))",
        "pass",
        "tests/recipe/test_recipe_geometry.py",
    ),
    Named(
        "the offset of flipped JPEG files under DCT scaling",
        "native/core/steps/decode.cpp",
        "(flipped ? whole - extent : 0)",
        "0",
        "tests/operators/test_decode.py",
    ),
    Named(
        "no sync of names before the sidecar",
        "src/pixelmill/jobs/commit.py",
        "storage.sync(finished)",
        "pass",
        "tests/jobs/test_commit.py",
    ),
    Named(
        "a box that is just visible enough is dropped",
        "src/pixelmill/augmentation/objects.py",
        "visible >= visibility",
        "visible > visibility",
        "tests/augmentation/test_variants.py",
    ),
    Named(
        "the last of several errors is reported",
        "src/pixelmill/dataset_jobs/base.py",
        "error.events[0]",
        "error.events[-1]",
        "tests/augmentation/test_variants.py",
    ),
    Named(
        "dots at the end of a name",
        "src/pixelmill/storage/file_names.py",
        'not part.endswith((".", " "))',
        'not part.endswith(" ")',
        "tests/storage/test_file_names.py",
    ),
    Named(
        "the last position of a box crop",
        "native/core/steps/box_crop.cpp",
        ": draws.below(room + 1))",
        ": draws.below(std::max<int64_t>(room, 1)))",
        "tests/operators/test_box_windows.py",
    ),
    Named(
        "an APNG file of two frames",
        "native/core/codecs/headers.cpp",
        "be32(file, at + 8) > 1",
        "be32(file, at + 8) > 2",
        "tests/codecs/test_codecs.py",
    ),
    Named(
        "a key that occurs twice in an npy header",
        "native/core/records/npy.cpp",
        "bit == 0 || (seen & bit) != 0",
        "bit == 0",
        "tests/operators/test_npy_headers.py",
    ),
    Named(
        "no limit on spare buffers",
        _BATCH,
        "if (spare_.size() == spare_buffers) {",
        "if (false) {",
        "tests/engine/test_buffer_pool.py",
    ),
    Named(
        "a forked child keeps memory in the pool of its parent",
        _BATCH,
        "if (owner_ != process_id()) return free_memory(memory);",
        "",
        _FORK,
    ),
    Named(
        "a forked child gives work to threads of its parent",
        _POOL,
        "slot.pool != nullptr && !slot.pool->inherited()",
        "slot.pool != nullptr",
        _FORK,
    ),
    Named("a forked child stops the pool of its parent", _POOL, "if (inherited()) return;", "", _FORK),
    Named(
        "a forked child waits for threads of its parent",
        _POOL,
        "if (inherited() || pool_of_this_thread == this) return;",
        "if (pool_of_this_thread == this) return;",
        _FORK,
    ),
)
