"""Names: what Linen calls submodules, what the new code calls them, and which names are free."""
