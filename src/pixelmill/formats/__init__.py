"""Containers. Each opens as an index of byte ranges with columns beside them."""
