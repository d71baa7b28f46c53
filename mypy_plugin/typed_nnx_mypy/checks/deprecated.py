"""``nnx-deprecated``: spellings that have a successor."""
