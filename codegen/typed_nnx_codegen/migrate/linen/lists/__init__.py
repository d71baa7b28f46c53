"""Lists, tuples and dicts of submodules, arrays and settings."""
