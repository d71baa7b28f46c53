"""``typed-nnx migrate``: rewrites older NNX code with libcst, and says what a person must decide."""
