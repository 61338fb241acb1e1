"""The output folder of a job: what it already holds, which shards are done, and how the job is finished.

While a job is unfinished, everything about it is in one hidden folder of the output: the plan, the sidecars, the locks
and the files being written. When it is finished, manifest.json replaces the hidden folder, which is removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pixelmill.errors import DataError, OutputExists
from pixelmill.jobs import manifest
from pixelmill.jobs.commit import Site, json_line, place, scratch_folder, write_through
from pixelmill.jobs.job import Job
from pixelmill.jobs.lock import Claim
from pixelmill.jobs.manifest import Entry, JobPlan, differences
from pixelmill.jobs.shard_files import FileRecord, ShardFiles
from pixelmill.jobs.storage import Storage
from pixelmill.options.running import Exists

Situation = Literal["new", "resume", "complete", "replace"]

STATE = ".pixelmill"
_COMPLETE = "complete.json"


class JobOutput:
    """The output folder of one job."""

    def __init__(self, storage: Storage, *, job: Job, plan: JobPlan, plain: bool) -> None:
        self.claim = Claim("", "")  # of the run that has the lock
        self.run = ""  # and its name
        self.storage = storage
        self.plan = plan
        self.plain = plain
        # Jobs without a manifest may share a folder, so each has its own hidden folder.
        self.state = f"{STATE}-{plan.name}" if plain else STATE
        self._job = job

    def situation(self, exists: Exists, *, shared: bool) -> Situation:
        """Return what a run finds here, without changing anything. Raises OutputExists if the run must not start."""
        finished = None if self.plain else manifest.read_manifest(self.storage)
        begun = self._begun()
        if finished is None and begun is None:
            if exists == "resume" and self._was_being_removed():
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
            if exists == "error":
                raise OutputExists(f"job: {self.storage.root} holds the finished output of this job; {_HINT}")
            return "complete"
        if exists == "error" and not shared:
            done = f"{len(self._sidecars())} of {self.plan.shards} shards"
            text = f"job: {self.storage.root} holds this job, unfinished ({done}); exists=resume continues it"
            raise OutputExists(f"{text}, overwrite starts again")
        if begun is not None and begun.get("sources") != self.plan.sources:
            text = f"job: the inputs have changed since the unfinished job in {self.storage.root} began"
            raise OutputExists(f"{text}; exists=overwrite starts again")
        return "resume"

    def prepare(self, situation: Situation, *, scratch: str) -> None:
        """Prepare the folder for making shards. The lock must be held."""
        self.claim.check(self.storage)
        if situation == "replace":
            self._remove_old()
        if situation == "complete":
            self._reopen()
        if situation != "complete":
            self.storage.write(f"{self.state}/{manifest.PLAN}", self.plan.text())
        for name in self.storage.names(f"{self.state}/tmp"):
            if name.startswith(scratch):
                self.storage.remove_tree(f"{self.state}/tmp/{name}")

    def done(self) -> dict[int, tuple[int, int, int]]:
        """Return samples, bytes and errors of each shard that is done, by number."""
        done = {}
        for number in self._sidecars():
            entry = manifest.read_entry(self.storage, self._site().sidecar(number))
            if entry is not None and self._is_whole(entry):
                done[number] = figures(entry)
        return done

    def is_finished(self) -> bool:
        """Whether the whole job is done."""
        if self.plain:
            return self._begun() is None or self.storage.size(f"{self.state}/{_COMPLETE}") is not None
        found = manifest.read_manifest(self.storage)
        return found is not None and found["job"] == self.plan.hash

    def finish(self, done: Mapping[int, tuple[int, int, int]]) -> None:
        """Write the files about the whole dataset, the manifest last, and remove the hidden folder.

        Args:
            done: The result of `done`, which must have all shards.
        """
        if not self.is_finished():
            totals = {"samples": 0, "bytes": 0, "errors": 0}
            for samples, size, errors in done.values():
                totals["samples"] += samples
                totals["bytes"] += size
                totals["errors"] += errors
            closing = self._close()
            self.claim.check(self.storage)
            if self.plain:
                self.storage.write(f"{self.state}/{_COMPLETE}", json_line(totals))
            else:
                text = manifest.manifest_text(self.plan, totals=totals, closing=closing, entries=self.entries())
                with scratch_folder(self.storage, f"{self.state}/tmp/{self.run}-manifest") as scratch:
                    write_through(self.storage, manifest.NAME, text, scratch=scratch)
        self.remove_state()

    def entries(self) -> Iterator[Entry]:
        """Yield the content of all sidecars in order."""
        for number in range(self.plan.shards):
            entry = manifest.read_entry(self.storage, self._site().sidecar(number))
            if entry is None:
                where = self.storage.where(self._site().sidecar(number))
                raise DataError(f"job: {where} is missing or damaged; continue with exists=resume")
            yield entry

    def remove_state(self) -> None:
        """Remove the hidden folder; the file that says that the job is finished goes last."""
        self.claim.check(self.storage)
        for name in self.storage.names(self.state):
            if name.startswith("shard-"):
                self.storage.remove(f"{self.state}/{name}")
        self.storage.remove_tree(f"{self.state}/tmp")
        self.storage.remove(f"{self.state}/{manifest.PLAN}")
        self.storage.remove_tree(self.state)

    def _was_being_removed(self) -> bool:
        """Whether a plain job was killed at its very end, with all files in place and its state partly removed."""
        if not self.plain or self.state not in self.storage.names(""):
            return False
        if self.storage.size(f"{self.state}/{_COMPLETE}") is not None:
            return True
        names = [name for shard in self._job.shards for name in shard.files]
        return all(self.storage.size(name) is not None for name in (*names, *self._job.closing_files))

    def _site(self) -> Site:
        return Site("", self.state, "", "", "fail", None, 1)

    def _begun(self) -> Entry | None:
        return manifest.read_plan(self.storage, self.state)

    def _sidecars(self) -> list[int]:
        names = self.storage.names(self.state)
        numbers = [name[6:-5] for name in names if name.startswith("shard-") and name.endswith(".json")]
        return sorted(int(number) for number in numbers if number.isdecimal() and int(number) < self.plan.shards)

    def _is_whole(self, entry: Entry) -> bool:
        return all(self.storage.size(file["name"]) == file["bytes"] for file in entry["files"])

    def _check_clashes(self, exists: Exists, *, shared: bool) -> None:
        """Raise OutputExists if a file of this job would overwrite one of another origin."""
        if exists == "overwrite" or not [name for name in self.storage.names("") if name != self.state]:
            return
        closing = self._job.closing_files if self.plain else (*self._job.closing_files, manifest.NAME)
        planned = (name for shard in self._job.shards for name in shard.files)
        for name in (*closing, *planned):
            if self.storage.size(name) is not None:
                if shared and self._begun() is not None:
                    return  # another part of this job has just started
                raise OutputExists(f"job: {self.storage.where(name)} exists; exists=overwrite replaces it")

    def _remove_old(self) -> None:
        """Remove the output of an earlier job. Manifest and plan go last: after a kill it is still recognized."""
        old = None if self.plain else manifest.read_manifest(self.storage)
        entries = list(old["entries"]) if old else []
        closing = list(old.get("files", ())) if old else []
        for name in self.storage.names(self.state):
            if name.startswith("shard-"):
                entries.append(manifest.read_entry(self.storage, f"{self.state}/{name}") or {"files": []})
        for file in (*(file for entry in entries for file in entry["files"]), *closing):
            self.storage.remove(file["name"])
        for name in self.storage.names(self.state):
            if name.startswith("shard-"):
                self.storage.remove(f"{self.state}/{name}")
        self.storage.remove(f"{self.state}/{manifest.PLAN}")
        if old:
            self.storage.remove(manifest.NAME)

    def _reopen(self) -> None:
        """Turn the manifest back into sidecars if files of the dataset are missing, so that they are made again."""
        finished = manifest.read_manifest(self.storage)
        if finished is None:
            return
        whole = [entry for entry in finished["entries"] if self._is_whole(entry)]
        if len(whole) == self.plan.shards and self._is_whole({"files": finished["files"]}):
            return
        for entry in whole:
            self.storage.write(self._site().sidecar(int(entry["number"])), json_line(entry))
        self.storage.write(f"{self.state}/{manifest.PLAN}", self.plan.text())
        self.storage.remove(manifest.NAME)

    def _close(self) -> list[FileRecord]:
        if not self._job.closing_files:
            return []
        with scratch_folder(self.storage, f"{self.state}/tmp/{self.run}-close") as scratch:
            files = ShardFiles(self.storage, number=self.plan.shards, scratch=scratch)
            try:
                self._job.close(files, self.entries())
                finished = files.finish()
            finally:
                files.abandon()
            self.claim.check(self.storage)
            return place(self.storage, finished)


def figures(entry: Entry) -> tuple[int, int, int]:
    """Return samples, bytes and errors of a finished shard."""
    return int(entry["samples"]), manifest.entry_bytes(entry), len(entry["errors"])


_HINT = "choose another folder, or exists=overwrite to replace it"
