"""Batches for frameworks. A framework is imported by its own module here and nowhere else."""
