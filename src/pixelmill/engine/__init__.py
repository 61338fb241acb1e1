"""From graphs to batches: rules.py rewrites, compile.py builds native programs, native.py runs them."""
