"""The same graph on DALI: split.py says what runs where, emission.py makes DALI's calls, running.py runs batches."""
