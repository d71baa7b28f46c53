"""The exceptions by subject; `typed_nnx.errors` is their public place. Imports nothing of ours."""
