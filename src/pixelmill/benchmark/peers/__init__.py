"""The contestants, a module each.

A module has `variants(kind, source)`, the ways it can do a kind of work (none, if it cannot); `fastest`, those of them
that may be its fastest; and `batches(job)`, an endless iterator over batches. Frameworks are imported by `batches`
only, so that the variants can be listed without them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Peer:
    """A library to compare with.

    Attributes:
        name: Its name on the command line.
        module: Its module here.
        title: Its name for people.
        package: What is imported, to see whether it is there.
        reads: A phrase about what it can read.
    """

    name: str
    module: str
    title: str
    package: str
    reads: str


PEERS = {
    peer.name: peer
    for peer in (
        Peer("dali", "dali", "DALI", "nvidia.dali", "every container but packs"),
        Peer("tf", "tfdata", "tf.data", "tensorflow", "image files and TFRecords"),
        Peer("torch", "pillow", "torch DataLoader + Pillow", "torch", "image files and npy files of uint8 pixels"),
    )
}
