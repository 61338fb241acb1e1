"""Measures how long training waits for data."""

from pixelmill.plugin.pytorch.loader_evaluator.loader import LoaderEvaluator

__all__ = ["LoaderEvaluator"]
