"""The variables of modules: how they are declared, read and written."""
