"""``typed-nnx stubs``: State classes with fields, for the models of a user."""
