"""Functions that build submodules: they become methods of the modules that call them."""
