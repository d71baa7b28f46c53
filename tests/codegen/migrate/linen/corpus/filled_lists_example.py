"""Examples for `filled_lists.py`."""

import jax.numpy as jnp

from typed_nnx_codegen.verify.examples import Build, Example

X = jnp.arange(10.0).reshape(2, 5) / 7
W = (6, 4, 8)
_ALL = ("Carried", "Nested", "Staged", "NamedPairs", "LastOnly", "Encoder")
_SHORT = ("Carried", "Nested", "Staged", "LastOnly", "Encoder")
_ROWS = [((3, 4), (5, 6, 7)), ((3,), ()), ((), (4,)), ((2, 9, 3), (5,))]

EXAMPLES = [
    *(Example(Build(name, widths=W), X, name=f"{name} of three") for name in _ALL),
    *(
        Example(Build(name, widths=W, depth=depth), X, name=f"{name} of depth {depth}")
        for name, depth in (("Nested", 3), ("Staged", 3), ("Encoder", 2), ("Encoder", 0))
    ),
    *(Example(Build(name, widths=(7,)), X, name=f"{name} of one") for name in _SHORT),
    *(
        Example(Build(name, rows), X, name=f"{name} of {rows}")
        for name in ("Whole", "Compacted")
        for rows in _ROWS
    ),
    Example(Build("Down", 6, 2, halves=False), X),
    Example(Build("Block", 5, 4), X),
    Example(Build("Part", (4, 3)), X),
    Example(Build("Named", (4, 3)), X),
    *(Example(Build("EndsOfBranches", wide), X) for wide in (True, False)),
    *(Example(Build("PlacesOfBranches", wide), X) for wide in (True, False)),
]
