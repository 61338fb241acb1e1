"""Containers. Each is a package of its own here, listed in `containers.py`, and exports one `FORMAT`.

Shared by all of them: `dataset` and `sample` (what a container holds), `annotations` (what it cannot say itself),
`index` (byte ranges and columns), `storage` (local paths and addresses), `record_writer` and `scan_cache`.
"""
