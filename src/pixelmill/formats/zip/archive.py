"""What the members of one archive are: images in class folders, masks, annotations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pixelmill.formats.annotations import Row, decode_row
from pixelmill.formats.dataset import CLASSES
from pixelmill.formats.folder.dataset import is_annotation
from pixelmill.formats.folder.names import IMAGES, MASKS
from pixelmill.formats.sample import IMAGE_EXTENSIONS, split_name
from pixelmill.formats.zip.members import Member
from pixelmill.formats.zip.scan import ZipScan


@dataclass(frozen=True, slots=True)
class Item:
    """A sample.

    Attributes:
        archive: The number of its archive.
        name: The name of the image, from the class folder on.
        image: The member with the image.
        mask: The member with the mask, if any.
    """

    archive: int
    name: str
    image: Member
    mask: Member | None


class Archive:
    """The members of an archive by their roles.

    Args:
        found: The members.
        read: Reads the content of a member.
    """

    def __init__(self, found: ZipScan, read: Callable[[Member], bytes]) -> None:
        visible = [member for member in found.members if not is_hidden(member.name)]
        root = _root([member.name for member in visible])
        members = {member.name.removeprefix(root): member for member in visible if member.name.startswith(root)}
        images = {name: member for name, member in members.items() if _is_image(name)}
        tops = {name.partition("/")[0].casefold(): name.partition("/")[0] for name in images if "/" in name}
        self.has_masks = tops.keys() >= {IMAGES, MASKS}
        below = f"{tops[IMAGES]}/" if self.has_masks else ""
        self._images = {name.removeprefix(below): m for name, m in images.items() if name.startswith(below)}
        self._masks = _by_stem(images, f"{tops[MASKS]}/") if self.has_masks else {}
        folders = {name.partition("/")[0] for name in self._images if "/" in name}
        # Empty class folders number the classes too, as they do in a folder.
        nested = (name.removeprefix(root + below) for name in found.folders if name.startswith(root + below))
        folders |= {name.partition("/")[0] for name in nested if name and not is_hidden(name)}
        self.folders = frozenset(folders)
        self.rows = dict(_rows(found.path, members, read))
        self.listed = _listed_classes(members, read)
        self.complete = found.complete

    def items(self, number: int) -> Iterator[Item]:
        """Yield the samples; `number` is that of this archive."""
        for name, member in self._images.items():
            yield Item(number, name, member, self._masks.get(split_name(name)[0]))

    def labels(self, classes: Sequence[str]) -> Mapping[str, int]:
        """Return the label of each class folder: as `classes.txt` lists them if it has all, else as `classes` does."""
        chosen = self.listed if self.listed and self.folders <= set(self.listed) else classes
        return {name: number for number, name in enumerate(chosen) if name}


def is_hidden(name: str) -> bool:
    """Whether a member is skipped: hidden files, and what macOS adds to archives."""
    return name.startswith("__MACOSX/") or any(part.startswith(".") for part in name.split("/"))


def _is_image(name: str) -> bool:
    return split_name(name)[1].lower() in IMAGE_EXTENSIONS


def _root(names: Sequence[str]) -> str:
    """Return the folder around the class folders, with a slash: programs often pack a folder, not what is in it."""
    images = [name for name in names if _is_image(name)]
    top = {name.partition("/")[0] for name in images}
    if len(top) != 1 or any(_is_ours(name) for name in names) or any("/" not in name for name in images):
        return ""
    root = f"{top.pop()}/"
    inside = [name.removeprefix(root) for name in names if name.startswith(root)]
    deep = all("/" in name.removeprefix(root) for name in images)
    return root if deep or any(_is_ours(name) for name in inside) else ""


def _is_ours(name: str) -> bool:
    """Whether a name is that of a file that describes the folder it is in."""
    return name == CLASSES or ("/" not in name and is_annotation(name))


def _by_stem(images: Mapping[str, Member], root: str) -> dict[str, Member]:
    return {split_name(name.removeprefix(root))[0]: member for name, member in images.items() if name.startswith(root)}


def _rows(
    path: str, members: Mapping[str, Member], read: Callable[[Member], bytes]
) -> Iterable[tuple[str, tuple[str, Row]]]:
    for name, member in members.items():
        if "/" in name or not is_annotation(name):
            continue
        for number, line in enumerate(read(member).split(b"\n"), start=1):
            if line.strip():
                where = f"{path}, {name}:{number}"
                row = decode_row(line, where=where)
                yield str(row.get("path")), (where, row)


def _listed_classes(members: Mapping[str, Member], read: Callable[[Member], bytes]) -> tuple[str, ...]:
    if CLASSES not in members:
        return ()
    return tuple(read(members[CLASSES]).decode("utf-8", "surrogateescape").split("\n")[:-1])
