"""Building graphs: nodes, conditional branches, and the source rewriting that makes `if` work on nodes."""
