"""Image files that a table lists as a dataset."""

from __future__ import annotations

from typing import ClassVar

from pixelmill.formats.file_list.dataset import ListDataset


class TableDataset(ListDataset):
    """The files that one or several tables list, in their order. Labels that are names are numbered."""

    format: ClassVar[str] = "csv"
