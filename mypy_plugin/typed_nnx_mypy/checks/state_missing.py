"""``nnx-state-missing``: merged States that do not cover the GraphDef."""
