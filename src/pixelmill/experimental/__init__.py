"""Modules whose interface may still change."""
