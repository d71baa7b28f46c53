"""What goes wrong with object graphs: places, sharing, cycles, records, update contexts."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from tests.errors.case import Bag, Case
from typed_nnx import errors


def tied() -> Bag:
    """Return a model that holds one Variable at two places."""
    shared = nnx.Param(jnp.ones(2))
    return Bag(encoder=shared, decoder=shared)


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    items: list[Any] = [nnx.Param(jnp.ones(2))]
    items.append(items)
    return items


def change_behind_the_back() -> None:
    """Replace a Variable without `__setattr__` while the debug mode is on."""
    model = Bag(w=nnx.Param(jnp.ones(2)))
    with nnx.set_verify_records(True):
        nnx.split(model)
        vars(model)["w"] = nnx.Param(jnp.zeros(2))
        nnx.split(model)


def merge_on_neither_side() -> None:
    """Enter a merge context without saying on which side of the transform it is."""
    with nnx.update_context("step"), nnx.merge_context("step"):
        raise AssertionError("not reached")


def to_tree_under_two_prefixes(shared: object) -> None:
    """Pass one object twice, with different prefixes."""
    nnx.to_tree((shared, shared), prefix=(0, 1))


REFERENCE: Any = jax.new_ref(jnp.ones(2))

CASES = [
    Case(
        "pop of an element of a list",
        errors.ImmutableNodeError,
        lambda: nnx.pop(Bag(items=nnx.data([nnx.Param(1)])), nnx.Param),
        ("pop: ", "at path ('items', 0)", "immutable node of type list"),
        "keep it in an nnx.List",
    ),
    Case(
        "update of an element of a tuple",
        errors.ImmutableNodeError,
        lambda: nnx.update((jnp.ones(2),), nnx.State({0: jnp.zeros(2)})),
        ("update: ", "at path (0,)", "immutable node of type tuple"),
        "keep it in an nnx.List",
    ),
    Case(
        "references for a Variable that is shared",
        errors.DuplicatePathsError,
        lambda: nnx.to_refs(tied()),
        ("Found duplicate at paths:", "decoder\n  encoder\n", "(Param)"),
        "copy the array for one of the paths",
    ),
    Case(
        "arrays for a reference that is shared",
        errors.DuplicatePathsError,
        lambda: nnx.to_arrays([REFERENCE, {"a": REFERENCE}]),
        ("Found duplicate at paths:", "  0\n  1/a\n"),
        "pass allow_duplicates=True",
    ),
    Case(
        "a list that holds itself",
        errors.ContainerCycleError,
        lambda: nnx.split(cyclic()),
        ("traversal: ", "the list at path", "contains itself"),
        "make the outer one an nnx.List or nnx.Dict",
    ),
    Case(
        "duplicates in a list that holds itself",
        errors.ContainerCycleError,
        lambda: nnx.find_duplicates({"a": cyclic()}),
        ("traversal: ", "the list at path ('a', 1)", "contains itself"),
        "make the outer one an nnx.List or nnx.Dict",
    ),
    Case(
        "a shared Variable where a tree is asserted",
        errors.SharedReferenceError,
        lambda: nnx.split(tied(), graph=False),
        ("split: ", "Duplicate Param found at paths:", "('decoder',)", "('encoder',)", "Tree mode"),
        "give each path an object of its own, or nnx.split(..., graph=True)",
    ),
    Case(
        "a class that is no pytree where a tree is asserted",
        errors.UnregisteredPytreeError,
        lambda: nnx.jit(lambda model: 0, graph=False)(nnx.Dict(inner=nnx.Object())),
        ("jit of ", "tree mode", "Object", "pytree=False. Found at path: model.inner"),
        "declare Object without pytree=False, or nnx.jit(..., graph=True)",
    ),
    Case(
        "one object under two prefixes",
        errors.PrefixConflictError,
        lambda: to_tree_under_two_prefixes(tied()),
        ("Inconsistent aliasing", "[0].decoder: 0", "[1].decoder: 1"),
        "give all paths to the object the same prefix",
    ),
    Case(
        "one Variable under two prefixes",
        errors.PrefixConflictError,
        lambda: to_tree_under_two_prefixes(nnx.Param(1)),
        ("Inconsistent aliasing", "[0]: 0", "[1]: 1"),
        "give all paths to the object the same prefix",
    ),
    Case(
        "a change that the records did not see",
        errors.StaleRecordError,
        change_behind_the_back,
        ("record of Bag: ", "the leaf .w was replaced", "without `__setattr__`"),
        "call nnx.invalidate(model) after such a change",
        RuntimeError,
    ),
    Case(
        "an update context that is not there",
        errors.UpdateContextError,
        lambda: nnx.current_update_context("step"),
        ("No update context found for tag 'step'",),
        "with nnx.update_context(tag): split outside, merge inside",
    ),
    Case(
        "a merge on neither side of the transform",
        errors.UpdateContextError,
        merge_on_neither_side,
        ("merge_context needs inner=True or inner=False", "'step'"),
        "with nnx.update_context(tag): split outside, merge inside",
    ),
]
