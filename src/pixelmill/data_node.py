"""The class of nodes, under the name that programs import it from."""

from pixelmill.graph import DataNode

__all__ = ["DataNode"]
