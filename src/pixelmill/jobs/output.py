"""The output folder of a job: what it already holds, which shards are done, and how the job is finished.

While a job is unfinished, everything about it is in one hidden folder of the output: the plan, the sidecars, the locks
and the files being written. When it is finished, manifest.json replaces the hidden folder, which is removed.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Literal

from pixelmill.amounts import counted
from pixelmill.errors import DataError, OutputExists
from pixelmill.jobs import manifest
from pixelmill.jobs.commit import Site, json_line, place, scratch_folder, write_intent, write_through
from pixelmill.jobs.figures import Figures, figures, total
from pixelmill.jobs.job import Job, ShardReport
from pixelmill.jobs.lock import Claim
from pixelmill.jobs.manifest import Entry, JobPlan, differences, shard_entry
from pixelmill.jobs.output_stream import FileRecord
from pixelmill.jobs.shard_files import ShardFiles
from pixelmill.jobs.sharing import STATE, check_shared, foreign_text, refuse_added
from pixelmill.jobs.storage import Storage, together
from pixelmill.options.running import Exists

Situation = Literal["new", "resume", "complete", "replace"]

_COMPLETE = "complete.json"

_AT_ONCE = 64  # sidecars that are read together
_REMEMBERED_FILES = 100_000
_SMALL = 1 << 20  # bytes that are sent in about the time of a look at the lock


class JobOutput:
    """The output folder of one job."""

    def __init__(self, storage: Storage, *, job: Job, plan: JobPlan, plain: bool, added: bool = False) -> None:
        self.claim = Claim("", "")  # of the run that has the lock
        self.run = ""  # and its name
        self.removing: Callable[[], AbstractContextManager[None]] = nullcontext  # its lock, with the hidden folder
        self.storage = storage
        self.plan = plan
        self.plain = plain
        self.added = added
        # Jobs that share a folder have a hidden folder each.
        self.state = f"{STATE}-{plan.name}" if plain or added else STATE
        self.manifest = plan.added_manifest if added else manifest.NAME
        self._job = job
        self._made: dict[int, Entry] = {}
        self._made_files = 0

    @property
    def samples(self) -> int | None:
        """Number of samples of the whole job, if that is known."""
        return self._job.samples

    def situation(self, exists: Exists, *, shared: bool) -> Situation:
        """Return what a run finds here, without changing anything. Raises OutputExists if the run must not start."""
        with self.storage.at_one_moment(self.state):
            return self._situation(exists, shared=shared)

    def _situation(self, exists: Exists, *, shared: bool) -> Situation:
        if not (self.plain or self.added):
            refuse_added(self.storage)
        finished = self._finished()
        begun = self._begun()
        if finished is None and begun is None:
            if exists == "resume" and self._is_whole_without_state():
                return "complete"
            self._check_clashes(exists, shared=shared)
            return "new"
        if exists == "overwrite":
            return "replace"
        job = finished["job"] if finished else (begun or {}).get("job")
        if job != self.plan.hash:
            old = finished or (begun or {}).get("plan", {})
            new = {name: self.plan.content[name] for name in self.plan.content}
            how = differences({name: old[name] for name in new if name in old}, new)
            raise OutputExists(f"job: {self.storage.root} holds the output of another job ({how}); {_HINT}")
        if finished is not None:
            if exists == "error" and not shared:  # the other parts of this run may have finished the job
                raise OutputExists(f"job: {self.storage.root} holds the finished output of this job; {_HINT}")
            return "complete"
        if exists == "error" and not shared:
            done = f"{len(self._sidecars())} of {counted(self.plan.shards, 'shard')}"
            text = f"job: {self.storage.root} holds this job, unfinished ({done}); exists=resume continues it"
            raise OutputExists(f"{text}, overwrite starts again")
        if begun is not None and begun.get("sources") != self.plan.sources:
            text = f"job: the inputs have changed since the unfinished job in {self.storage.root} began"
            again = f"remove {self.state} and the files of this job to start" if self.added else _OVERWRITE
            raise OutputExists(f"{text}; {again} again")
        return "resume"

    def prepare(self, situation: Situation, *, scratch: str, hashed: bool = False, kept: bool = False) -> None:
        """Prepare the folder for making shards. The lock must be held.

        Args:
            situation: What `situation` has returned.
            scratch: Start of the names of unfinished files to remove.
            hashed: Whether to compare the hashes of all files of a finished job, instead of the last shard.
            kept: Whether shards must have kept the bytes of skipped samples; others are made again.
        """
        if situation == "replace":
            self._remove_old()
        if situation == "complete":
            self._reopen(hashed=hashed, kept=kept)
        if situation != "complete":
            self.storage.write(f"{self.state}/{manifest.PLAN}", self._plan_text())
        if self.added and situation != "complete":
            self._check_others(new=situation == "new")
        for name in self.scratch_names():
            if name.startswith(scratch):
                self._discard(f"{self.state}/tmp/{name}")

    def scratch_names(self) -> list[str]:
        """Return the names of folders of unfinished files; those of a job to a store are never in the store."""
        return [] if self.storage.is_remote else self.storage.names(f"{self.state}/tmp")

    def abort_uploads(self, part: tuple[int, int] | None) -> None:
        """Remove what killed runs have left of files that they were uploading, those of this part only."""
        shards = self._job.shards
        own = None if part is None else {name for n in range(part[0], len(shards), part[1]) for name in shards[n].files}
        self.storage.abort_uploads(own)

    def _discard(self, scratch: str) -> None:
        """Remove the scratch folder of a dead run, and files that it has renamed without a sidecar for them."""
        if not self.is_finished():
            orphans = []
            for entry in self._intents(scratch):
                if self.storage.size(self._site().sidecar(int(entry["number"]))) is None:
                    orphans += [file["name"] for file in entry["files"]]
            self._remove_files(orphans)
        self.storage.remove_tree(scratch)

    def _intents(self, scratch: str) -> Iterator[Entry]:
        for name in self.storage.names(scratch):
            if name.startswith("shard-"):
                entry = manifest.read_entry(self.storage, f"{scratch}/{name}")
                if entry is not None:
                    yield entry

    def _remove_files(self, names: Sequence[str]) -> None:
        """Remove files durably."""
        self.storage.each(self.storage.remove, names)
        self.storage.sync(names)

    def remember(self, entry: Entry) -> None:
        """Keep the entry of a shard that this run has committed to a store: reading it again takes round trips.

        Where shards have very many files, only the entries of the first ones are kept.
        """
        self._made_files += len(entry["files"])
        if self.storage.is_remote and self._made_files <= _REMEMBERED_FILES:
            self._made[int(entry["number"])] = json.loads(json_line(entry))

    def _entry_of(self, number: int) -> Entry | None:
        """Return the entry of a finished shard, None if its sidecar is missing or damaged."""
        return self._made.get(number) or manifest.read_entry(self.storage, self._site().sidecar(number))

    def done(self, *, hashed: bool | None = None, kept: bool = False) -> dict[int, Figures]:
        """Return the figures of each shard that is done, by number.

        Args:
            hashed: Compare the hashes of all shards; False for the last one, None for none. Sizes always are.
            kept: Leave out shards that have skipped samples without keeping their bytes.
        """
        numbers = sorted(self._made) if len(self._made) == self.plan.shards else self._sidecars()
        found = self._read(numbers)
        entries = {
            number: entry
            for number, entry in zip(numbers, found, strict=True)
            if entry is not None and (manifest.is_kept(entry) or not kept)
        }
        sizes = self.storage.sizes([file["name"] for entry in entries.values() for file in entry["files"]])

        def whole(number: int) -> bool:
            deep = hashed or (hashed is False and number == numbers[-1])
            return self._is_whole(entries[number], sizes, hashed=bool(deep))

        is_whole = self.storage.each(whole, list(entries))
        return {number: figures(entries[number]) for number, kept in zip(entries, is_whole, strict=True) if kept}

    def is_finished(self) -> bool:
        """Whether the whole job is done."""
        if self.plain:
            return self._begun() is None or self.storage.size(f"{self.state}/{_COMPLETE}") is not None
        found = self._finished()
        return found is not None and found["job"] == self.plan.hash

    def _read(self, numbers: Sequence[int]) -> list[Entry | None]:
        if all(number in self._made for number in numbers):  # no threads are needed
            return [self._made[number] for number in numbers]
        return self.storage.each(self._entry_of, numbers)

    def finish(self, done: Mapping[int, Figures], *, is_checked: bool = False) -> None:
        """Write the files about the whole dataset, the manifest last, and remove the hidden folder.

        Args:
            done: The result of `done`, which must have all shards.
            is_checked: Whether the lock was looked at together with it.
        """
        removal = None
        is_alone = len(self._made) == self.plan.shards  # all of it is of this run, so no other has finished it
        if is_alone or not self.is_finished():
            totals = total(done.values()).totals()
            closing = self._close(is_checked=is_checked) if self._job.closing_files else []
            if not (closing or is_checked):
                self.claim.check(self.storage)
            if self.plain:
                self.storage.write(f"{self.state}/{_COMPLETE}", json_line(totals))
            else:
                text = manifest.manifest_text(self.plan, totals=totals, closing=closing, entries=self.entries())
                # What is to be removed is listed in the meantime, unless another run may still add to it.
                listed = (lambda: self.storage.removal(self.state)) if is_alone else (lambda: None)
                removal = together(self.storage, listed, lambda: self._write_manifest(text))
        self._remove_finished_state(removal)

    def _write_manifest(self, text: Iterable[bytes]) -> None:
        with scratch_folder(self.storage, f"{self.state}/tmp/{self.run}-manifest") as scratch:
            write_through(self.storage, self.manifest, text, scratch=scratch)

    def entries(self) -> Iterator[Entry]:
        """Yield the content of all sidecars in order."""
        for first in range(0, self.plan.shards, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, self.plan.shards))
            for number, entry in zip(numbers, self._read(numbers), strict=True):
                if entry is None:
                    where = self.storage.where(self._site().sidecar(number))
                    raise DataError(f"job: {where} is missing or damaged; continue with exists=resume")
                yield entry

    def remove_state(self) -> None:
        """Remove the hidden folder; the file that says that the job is finished goes last."""
        if not self.is_finished():  # another part of a split job may have finished it, and removed all locks
            self.claim.check(self.storage)
        self._remove_finished_state()

    def _remove_finished_state(self, removal: Callable[[], None] | None = None) -> None:
        with self.removing():
            if self.storage.is_remote and not self.plain:  # the manifest says that the job is finished
                (removal or self.storage.removal(self.state))()
            else:
                self._remove_in_order()

    def _remove_in_order(self) -> None:
        sidecars = [f"{self.state}/{name}" for name in self.storage.names(self.state) if name.startswith("shard-")]
        self.storage.each(self.storage.remove, sidecars)
        self.storage.remove_tree(f"{self.state}/tmp")
        self.storage.remove(f"{self.state}/{manifest.PLAN}")
        self.storage.remove_tree(self.state)

    def _is_whole_without_state(self) -> bool:
        """Whether all files of a plain job are there: it finished, or was killed when it removed its state."""
        if not self.plain:
            return False
        if self.storage.size(f"{self.state}/{_COMPLETE}") is not None:
            return True
        return all(self.storage.size(name) is not None for name in self._planned())

    def _planned(self) -> Iterator[str]:
        """Yield the names of all files that the job writes."""
        yield from self._job.closing_files
        for shard in self._job.shards:
            yield from shard.files

    def finished_figures(self) -> Figures:
        """Return the figures of a finished job: those of the manifest, or the sizes of the files of a plain job."""
        if self.plain:
            return Figures(self._job.samples or 0, sum(self.storage.size(name) or 0 for name in self._planned()), 0)
        found = self._finished() or {"entries": []}
        return total(figures(entry) for entry in found["entries"])

    def _site(self) -> Site:
        return Site("", self.state, "", "", "fail", None, 1)

    def _finished(self) -> Entry | None:
        return None if self.plain else manifest.read_manifest(self.storage, name=self.manifest)

    def _plan_text(self) -> bytes:
        return self.plan.text(self._planned() if self.added else None)

    def _check_others(self, *, new: bool) -> None:
        """Raise OutputExists if another job writes, or has written, a file of this one.

        The plan is there before the others are looked at, so of two jobs that start at the same time at least one sees
        the other; unfinished jobs come before manifests, which are written before a job stops being unfinished.
        """
        try:
            check_shared(self.storage, set(self._planned()), state=self.state, name=self.manifest)
            if new:
                self._check_clashes("error", shared=False)
        except OutputExists:
            if new:
                self.storage.remove_tree(self.state)
            raise

    def _begun(self) -> Entry | None:
        return manifest.read_plan(self.storage, self.state)

    def _sidecars(self) -> list[int]:
        names = self.storage.names(self.state)
        numbers = [name[6:-5] for name in names if name.startswith("shard-") and name.endswith(".json")]
        return sorted(int(number) for number in numbers if number.isdecimal() and int(number) < self.plan.shards)

    def _is_whole(self, entry: Entry, sizes: Mapping[str, int | None], *, hashed: bool = False) -> bool:
        whole = all(sizes[file["name"]] == file["bytes"] for file in entry["files"])
        if not (whole and hashed):
            return whole
        return all(file["sha256"] in ("", self.storage.sha256(file["name"])) for file in entry["files"])

    def _check_clashes(self, exists: Exists, *, shared: bool) -> None:
        """Raise OutputExists if a file of this job would overwrite one of another origin."""
        foreign = [name for name in self.storage.names("") if name and name[0] != "." and name not in _IGNORED]
        if exists == "overwrite" or not any(map(self._holds_files, foreign)):
            return
        for name in itertools.chain(() if self.plain else (self.manifest,), self._planned()):
            if self.storage.size(name) is not None:
                if shared and self._begun() is not None:
                    return  # another part of this job has just started
                hint = "choose another folder, or remove it" if self.added else "exists=overwrite replaces it"
                raise OutputExists(f"job: {self.storage.where(name)} exists; {hint}")
        if not (self.plain or self.added or (shared and self._begun() is not None)):
            raise OutputExists(f"job: {foreign_text(self.storage.root, foreign)}; {self._elsewhere()}")

    def _holds_files(self, name: str) -> bool:
        """Whether there is a file at or below a name; a job that was killed may leave empty folders."""
        if not os.path.isdir(self.storage.where(name)):  # noqa: PTH112 - object stores have no empty folders
            return True
        return any(self._holds_files(f"{name}/{inside}") for inside in self.storage.names(name))

    def _elsewhere(self) -> str:
        add = ", or exists=add to write next to these files" if self._job.lists_files else ""
        return f"choose a new folder{add}"

    def _remove_old(self) -> None:
        """Remove the output of an earlier job. Manifest and plan go last: after a kill it is still recognized."""
        old = self._finished()
        entries = list(old["entries"]) if old else []
        closing = list(old.get("files", ())) if old else []
        for name in self.storage.names(self.state):
            if name.startswith("shard-"):
                entries.append(manifest.read_entry(self.storage, f"{self.state}/{name}") or {"files": []})
        for scratch in self.scratch_names():
            entries += self._intents(f"{self.state}/tmp/{scratch}")
        # Each step must be on the disk before the next one: after a power loss nothing may be left that no list names.
        self._remove_files([file["name"] for entry in (*entries, {"files": closing}) for file in entry["files"]])
        sidecars = [f"{self.state}/{name}" for name in self.storage.names(self.state) if name.startswith("shard-")]
        self._remove_files([*sidecars, f"{self.state}/{manifest.PLAN}"])
        if old:
            self._remove_files([self.manifest])

    def _reopen(self, *, hashed: bool, kept: bool) -> None:
        """Turn the manifest back into sidecars if some shards must be made again: files are missing or have changed."""
        finished = self._finished()
        if finished is None:
            return
        last = self.plan.shards - 1
        entries = [e for e in finished["entries"] if manifest.is_kept(e) or not kept]
        closing = {"files": finished.get("files", [])}
        sizes = self.storage.sizes([file["name"] for e in (*entries, closing) for file in e["files"]])
        whole = [e for e in entries if self._is_whole(e, sizes, hashed=hashed or e["number"] == last)]
        if len(whole) == self.plan.shards and self._is_whole(closing, sizes, hashed=True):
            return
        for entry in whole:
            self.storage.write(self._site().sidecar(int(entry["number"])), json_line(entry))
        self.storage.write(f"{self.state}/{manifest.PLAN}", self._plan_text())
        self.storage.remove(self.manifest)

    def _close(self, *, is_checked: bool) -> list[FileRecord]:
        """Write the files about the whole dataset; the lock has been looked at when this returns."""
        with scratch_folder(self.storage, f"{self.state}/tmp/{self.run}-close") as scratch:
            files = ShardFiles(self.storage, number=self.plan.shards, scratch=scratch)
            try:
                self._job.close(files, self.entries())
                finished = files.finish()
                records = [record for _, record in finished.values()]
                intent = shard_entry(self.plan.shards, report=ShardReport(0), files=records, quarantine=())
                write_intent(scratch, intent, durable=not self.storage.is_remote)
            finally:
                files.abandon()
            is_quick = self.storage.is_remote and sum(record.bytes for record in records) <= _SMALL
            if not (is_checked and is_quick):
                self.claim.check(self.storage)
            if is_quick:  # they arrive while the lock is looked at
                return self.claim.checked(self.storage, lambda: place(self.storage, finished))
            place(self.storage, finished)
            self.claim.check(self.storage)
            return records


_IGNORED = frozenset({"lost+found"})  # of file systems
_OVERWRITE = "exists=overwrite starts"
_HINT = "choose another folder, or exists=overwrite to replace it; exists=add adds to the files of other jobs"
