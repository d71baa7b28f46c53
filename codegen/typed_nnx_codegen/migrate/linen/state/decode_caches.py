"""Caches of attention layers that decode: NNX makes them with a method of their own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.linen.marker_codes import CALL
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import Frame, Recorder
from typed_nnx_codegen.migrate.linen.running.values import Array, Const
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

_LAYERS: Final = frozenset(
    {
        "flax.linen.MultiHeadDotProductAttention",
        "flax.linen.MultiHeadAttention",
        "flax.linen.SelfAttention",
    }
)


def cache_lines(site: Site, recorder: Recorder, writer: ConstructorCode) -> Iterator[str]:
    """Yield the lines of the constructor that make the cache of an attention layer.

    Linen makes it where the layer is initialized, of the shape that it is called with there.
    """
    decode = site.given.get("decode")
    if site.target not in _LAYERS or decode is None or decode.code is None:
        return
    if isinstance(decode.value, Const) and not decode.value.value:
        return
    frame = Frame(recorder, recorder.plan.cls.analysis, recorder.instance)
    queries = next((values.get("inputs_q") for _, _, values in site.calls), None)
    shape = None
    if isinstance(queries, Array):
        shape = writer.of_shape(queries.shape, frame)
    if shape is None or "{" in site.attribute:
        recorder.mark(site.node, "call `init_cache(shape)` of it before decoding", CALL)
        return
    line = f"self.{site.attribute}.init_cache({shape})"
    if isinstance(decode.value, Const):
        yield line
        return
    yield f"if {decode.code}:"
    yield f"    {line}"


def caches_in(
    node: cst.BaseStatement, sites: Sequence[Site], recorder: Recorder, writer: ConstructorCode
) -> Iterator[str]:
    """Yield such lines for the layers that a statement of `setup` constructs."""
    below = set(descendants(node))
    for site in sites:
        if site.is_verbatim and site.node in below and site.attribute:
            yield from cache_lines(site, recorder, writer)
