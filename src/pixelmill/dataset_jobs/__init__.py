"""The common parts of jobs that read one dataset and write another."""
