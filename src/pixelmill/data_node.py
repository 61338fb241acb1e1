"""The class of nodes, under the name that programs import it from."""

from pixelmill.graph.nodes import DataNode
from pixelmill.operators.subscripts import newaxis

__all__ = ["DataNode", "newaxis"]
