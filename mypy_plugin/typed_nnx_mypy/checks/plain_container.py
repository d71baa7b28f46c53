"""``nnx-plain-container``: plain containers of arrays, Variables and Modules on a Pytree."""
