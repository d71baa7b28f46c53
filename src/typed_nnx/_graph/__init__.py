"""Objects to values and back: one traversal, cached in one record per root object."""
