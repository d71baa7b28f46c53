"""How a convolution pads its inputs: names, numbers, and paddings that jax has no name for."""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from typed_nnx.errors import LayerArgumentError
from typed_nnx.nn._typing import Array, LaxPadding, PaddingLike

# What jax itself knows, in any case of letters.
LAX_NAMES = ("SAME", "SAME_LOWER", "VALID")

# Paddings that are written into the inputs, and the mode of `jax.numpy.pad` that does it.
PAD_MODES = {"CIRCULAR": "wrap", "CAUSAL": "constant", "REFLECT": "reflect"}


def canonicalize_padding(padding: PaddingLike, rank: int) -> LaxPadding:
    """Return a padding as jax takes it: a name, or (before, after) for each of `rank` axes.

    >>> canonicalize_padding(1, 2)
    [(1, 1), (1, 1)]
    >>> canonicalize_padding([1, (2, 3)], 2)
    [(1, 1), (2, 3)]

    Args:
        padding: A name; a number for both sides of all axes; or for each axis a number or a pair.
        rank: The number of axes.

    Raises:
        LayerArgumentError: It is none of these.
    """
    return padding_of("canonicalize_padding", padding, rank)


def padding_of(layer: str, padding: PaddingLike, rank: int) -> LaxPadding:
    """Return what `canonicalize_padding` returns; `layer` is whom errors name."""
    if isinstance(padding, str):
        return padding
    if isinstance(padding, int):
        return [(padding, padding)] * rank
    sides: object = padding
    if isinstance(sides, Sequence) and len(sides) == rank:
        pairs = [pair for pair in map(_pair, sides) if pair is not None]
        if len(pairs) == rank:
            return pairs
    raise LayerArgumentError(
        layer,
        "padding",
        repr(padding),
        f"a name such as 'SAME', an int, or for each of {rank} axes an int or a pair of ints",
        f"padding={((1, 1),) * rank}",
    )


def _pair(value: object) -> tuple[int, int] | None:
    """Return the padding of one axis as a pair; None if it is neither an int nor a pair."""
    match value:
        case int():
            return (value, value)
        case (int() as before, int() as after) if isinstance(value, tuple):
            return (before, after)
        case _:
            return None


def check_name(layer: str, padding: PaddingLike, names: Sequence[str]) -> None:
    """Refuse a name that neither jax nor `names` has.

    Raises:
        LayerArgumentError: The name is unknown.
    """
    if not isinstance(padding, str) or padding.upper() in LAX_NAMES or padding in names:
        return
    known = ", ".join(map(repr, (*LAX_NAMES, *names)))
    close = padding.upper() if padding.upper() in names else "SAME"
    raise LayerArgumentError(
        layer, "padding", repr(padding), f"one of {known}, or numbers", f"padding={close!r}"
    )


def padded(inputs: Array, mode: str, reach: Sequence[int]) -> Array:
    """Return inputs with the padding `mode` of `PAD_MODES` written into them.

    Args:
        inputs: Any dtype, [batch, *spatial, features].
        mode: ``CIRCULAR``, ``CAUSAL`` or ``REFLECT``.
        reach: For each spatial axis, by how much a dilated kernel is longer than one element.
    """
    if mode == "CAUSAL":
        pads = [(length, 0) for length in reach]
    else:
        pads = [(length // 2, length - length // 2) for length in reach]
    return jnp.pad(inputs, [(0, 0), *pads, (0, 0)], mode=PAD_MODES[mode])
