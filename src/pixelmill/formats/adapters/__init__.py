"""Containers as datasets: one module for each, with its dataset and its writer."""
