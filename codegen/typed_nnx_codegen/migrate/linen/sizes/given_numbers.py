"""Sizes that methods are called with: `nn.Dense(features)` where `features` is an argument.

Linen makes parameters of that size in the first call, and calls with another size fail. So the
constructor is told it, as it is told sizes of inputs.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.modules.field_facts import FieldFacts
from typed_nnx_codegen.migrate.linen.plan import Bound, Site
from typed_nnx_codegen.migrate.linen.running.frames import Frame
from typed_nnx_codegen.migrate.linen.running.values import (
    Array,
    Const,
    GivenNumber,
    Size,
    Value,
)
from typed_nnx_codegen.migrate.linen.sizes.dims import ArgumentNumber, Dim, as_dim

# Settings of layers that are sizes of their parameters.
_SIZES: Final = frozenset({"features", "num_embeddings", "qkv_features", "out_features"})
# Layers whose size may be several numbers.
_OF_SHAPES: Final = frozenset({"flax.linen.DenseGeneral"})


def with_given_numbers(
    facts: FieldFacts, target: str | LinenClass, given: dict[str, Bound], frame: Frame
) -> dict[str, Bound]:
    """Return the settings of a submodule, with the sizes in them that the method is called with.

    Args:
        facts: What is known of the fields of modules.
        target: What is constructed.
        given: Its settings, by field.
        frame: Where it is constructed.
    """
    if not frame.records:
        return given
    found: dict[str, Bound] = {}
    for name, bound in given.items():
        origin = _origin(bound.value) if bound.code is None else ""
        if origin and _is_size(facts, target, name):
            size = as_dim(ArgumentNumber(origin))
            code = frame.recorder.templates.token(size)
            bound = replace(bound, value=Size(size), code=code, place=None)
        found[name] = bound
    return found


def _origin(value: Value) -> str:
    """Return the expression of a number over the parameters of a method; empty for other values."""
    match value:
        case GivenNumber(origin=origin):
            return origin
        case Array(origin=origin, without=()):
            return origin
    return ""


def _is_size(facts: FieldFacts, target: str | LinenClass, name: str) -> bool:
    """Whether a setting of a submodule is the size of parameters."""
    if isinstance(target, str):
        return name in _SIZES and target not in _OF_SHAPES
    return facts.is_size(target, name)


def size_fields(facts: FieldFacts, sites: Iterable[Site]) -> set[str]:
    """Return the fields of a module that are sizes of parameters of its submodules."""
    return {
        bound.code.removeprefix("self.")
        for site in sites
        for setting, bound in site.given.items()
        if bound.code is not None
        and bound.code.startswith("self.")
        and _is_size(facts, site.target, setting)
    }


def number_of(value: Value) -> Dim | None:
    """Return the number that a method is called with as a size; None where it is not known."""
    match value:
        case Size(dim=dim):
            return dim
        case Const(value=int() as number) if not isinstance(number, bool):
            return as_dim(number)
    origin = _origin(value)
    return as_dim(ArgumentNumber(origin)) if origin else None
