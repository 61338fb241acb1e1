"""Measures how fast data is read, decoded and augmented here, beside the peers that are installed."""
