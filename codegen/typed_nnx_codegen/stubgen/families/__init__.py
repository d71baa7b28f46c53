"""The tables from which the stubs are made, one file per family."""
