"""The class of nodes, under the name of DALI's module."""

from pixelmill.graph.nodes import DataNode
from pixelmill.operators.subscripts import newaxis

__all__ = ["DataNode", "newaxis"]
