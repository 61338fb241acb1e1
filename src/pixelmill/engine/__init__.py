"""From graphs to batches: compile.py lowers, rules.py fuses, native.py runs."""
