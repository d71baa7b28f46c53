"""``nnx-optimizer-wrt``: gradients of another filter or model than the Optimizer's."""
