"""Symbolic sizes: where they come from, and which of them callers have to say."""
