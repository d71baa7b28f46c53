"""What goes wrong with random number streams."""

from __future__ import annotations

from typing import Any

import typed_nnx as nnx
from tests.errors.case import Case
from typed_nnx import errors


def split_streams() -> nnx.Rngs:
    """Return streams that hold three keys each."""
    return nnx.Rngs(0).split(3)


WRONG: Any = "x"

CASES = [
    Case(
        "a stream that is not there",
        errors.StreamNotFoundError,
        lambda: nnx.Rngs(params=0).dropout(),
        ("Rngs: ", "No RngStream named 'dropout'", "no stream 'default'", "has 'params'"),
        "`nnx.Rngs(..., dropout=1)`",
        AttributeError,
    ),
    Case(
        "an item that is not there",
        errors.StreamNotFoundError,
        lambda: nnx.Rngs(params=0)["dropout"],
        ("Rngs: ", "No RngStream named 'dropout'", "no stream 'default'", "has 'params'"),
        "`nnx.Rngs(..., dropout=1)`",
        KeyError,
    ),
    Case(
        "a text as the seed",
        errors.InvalidSeedError,
        lambda: nnx.Rngs(params=WRONG),
        ("Rngs: ", "stream 'params' got 'x' (str)", "expected an int, a key"),
        "`jax.random.key(seed)`",
    ),
    Case(
        "one key of a stream that holds many",
        errors.KeyShapeError,
        lambda: split_streams().default(),
        ("RngStream 'default': ", "keys of shape (3,)", "expected a single key of shape ()"),
        "draw inside `nnx.vmap` over the streams",
    ),
    Case(
        "two rules for one stream",
        errors.AmbiguousStreamError,
        lambda: nnx.with_rngs(
            nnx.Rngs(0, a=1), split={"a": 2}, broadcast={...: 3}, fork=["b", "a"]
        ),
        ("RngStream at path ('a',) matches multiple rules", "split: 'a'", "fork: 'a'"),
        "let one of `split`, `broadcast` and `fork` match it",
    ),
    Case(
        "a text as the shape of a split",
        errors.InvalidRngSplitError,
        lambda: nnx.Rngs(0).split(WRONG),
        ("split: ", "is 'x' (str)", "expected an int, a tuple of ints, or a mapping"),
        "=2` for every stream",
        TypeError,
    ),
    Case(
        "a policy that reseed does not know",
        errors.ReseedPolicyError,
        lambda: nnx.reseed(nnx.Rngs(0), policy=WRONG, default=1),
        ("reseed: ", "argument `policy` is 'x'", "expected 'scalars_only', 'match_shape'"),
        "reseed(node, policy='match_shape', ...)",
    ),
    Case(
        "a stream of many keys to reseed with one",
        errors.ReseedShapeError,
        lambda: nnx.reseed({"layers": split_streams()}, default=1),
        ("reseed: ", "at path ('layers', 'default')", "shape (3,)", "expects single keys"),
        "reseed(node, policy='match_shape', ...)",
    ),
]
