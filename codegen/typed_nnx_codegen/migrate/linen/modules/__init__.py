"""The modules of a project: their classes, fields and submodules."""
