"""The generator of ``stubs/typed_nnx-stubs``: precise types of transforms and graph functions."""
