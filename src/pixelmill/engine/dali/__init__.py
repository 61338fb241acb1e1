"""The same graph on DALI.

stages.py decides which operators DALI runs, scopes.py for which samples, split.py cuts the graph accordingly,
pipeline_builder.py makes DALI's calls, and engine.py runs batches.
"""
