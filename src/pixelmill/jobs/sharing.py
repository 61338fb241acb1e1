"""Several jobs in one output folder: each has its own state and manifest, and no two write the same file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pixelmill.errors import OutputExists
from pixelmill.jobs import manifest
from pixelmill.jobs.storage import Storage

STATE = ".pixelmill"


def refuse_added(storage: Storage) -> None:
    """Raise OutputExists if jobs have added files to a folder: a job that owns its folder would not know them."""
    added = [name for name in manifest.manifest_names(storage) if name != manifest.NAME]
    added += [state for state, files in _reserved(storage) if files is not None]
    if added:
        text = f"job: {storage.root} holds files that jobs have added ({added[0]})"
        raise OutputExists(f"{text}; choose another folder, or exists=add to add this job too")


def check_shared(storage: Storage, files: set[str], *, state: str, name: str) -> None:
    """Raise OutputExists if another job in the folder writes, or has written, one of these files.

    Args:
        storage: The folder.
        files: The names of the files of a job.
        state: The hidden folder of this job.
        name: The name of its manifest.
    """
    if storage.names(STATE):
        raise OutputExists(f"job: {storage.root} holds an unfinished job that owns the folder; finish it first")
    for other, reserved in _reserved(storage):
        if other != state:
            _refuse_common(files & set(reserved or ()), storage, f"the unfinished job in {other}")
    for other in manifest.manifest_names(storage):
        found = manifest.read_manifest(storage, name=other) if other != name else None
        if found is not None:
            _refuse_common(files & {file.name for file in manifest.listed_files(found)}, storage, other)


def _refuse_common(common: set[str], storage: Storage, owner: str) -> None:
    if common:
        text = f"job: {storage.where(min(common))} belongs to another job ({owner})"
        raise OutputExists(f"{text}; choose another folder, or another prefix")


def _reserved(storage: Storage) -> Iterator[tuple[str, list[str] | None]]:
    """Yield the hidden folders of unfinished jobs, and the files that they will write if they were added."""
    for state in storage.names(""):
        if state.startswith(f"{STATE}-"):
            plan = manifest.read_plan(storage, state)
            yield state, None if plan is None else plan.get("files")


def foreign_text(root: str, names: Sequence[str]) -> str:
    """Describe a folder with files that no job has written."""
    shown = ", ".join(sorted(names)[:3]) + (f" and {len(names) - 3:,} more" if len(names) > 3 else "")
    return f"{root} is not empty ({shown}), and no job of pixelmill has written it"
