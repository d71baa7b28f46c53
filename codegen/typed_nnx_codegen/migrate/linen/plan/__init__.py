"""Plans the constructor of a module."""
