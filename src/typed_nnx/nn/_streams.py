"""Random streams that a layer is given, in the constructor or in a call."""

from __future__ import annotations

from typed_nnx._core.rngs import Rngs, RngStream
from typed_nnx.errors import RngsTypeError


def check_rngs(layer: object, rngs: object) -> None:
    """Refuse anything but an `Rngs` as the argument `rngs` of the constructor of a layer.

    Raises:
        RngsTypeError: `rngs` is not an `Rngs`.
    """
    if not isinstance(rngs, Rngs):
        raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs")


def kept_stream(layer: object, rngs: Rngs | RngStream | bool, name: str) -> RngStream | None:
    """Return the stream that a layer keeps for its calls.

    Args:
        layer: The layer.
        rngs: What the constructor got: streams of which `name` is forked, or the stream itself;
            True for a stream that starts from seed 0, False for none.
        name: The name of the stream.

    Raises:
        RngsTypeError: `rngs` is none of these.
    """
    if isinstance(rngs, Rngs):
        return rngs[name].fork()
    if isinstance(rngs, RngStream):
        return rngs
    if not isinstance(rngs, bool):
        raise RngsTypeError(
            type(layer).__name__, "rngs", rngs, "an nnx.Rngs, a stream of one, True or False"
        )
    return RngStream(0, tag=name) if rngs else None


def called_stream(
    layer: object, rngs: Rngs | RngStream | None, kept: RngStream | None, name: str
) -> RngStream | None:
    """Return the stream of a call: the one that the call was given, or the one the layer keeps.

    Args:
        layer: The layer.
        rngs: What the call got: streams of which `name` is taken, the stream itself or None.
        kept: The stream that the layer keeps.
        name: The name of the stream.

    Raises:
        RngsTypeError: `rngs` is none of these.
    """
    if rngs is None:
        return kept
    if isinstance(rngs, Rngs):
        return rngs[name]
    if isinstance(rngs, RngStream):
        return rngs
    raise RngsTypeError(type(layer).__name__, "rngs", rngs, "an nnx.Rngs, a stream of one or None")
