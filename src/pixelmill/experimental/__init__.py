"""Parts whose names may still change."""
