"""Comparing the gradients of both sides."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from typed_nnx_codegen.migrate.weights.models import Slot
from typed_nnx_codegen.verify.comparable import is_float
from typed_nnx_codegen.verify.differences import Item, Tolerance, compared, compared_one
from typed_nnx_codegen.verify.nnx_side import NnxRun
from typed_nnx_codegen.verify.reasons import first_line
from typed_nnx_codegen.verify.results import Result


def gradient_items(
    new: NnxRun, chosen: frozenset[str], has_drawn: bool, tolerance: Tolerance, result: Result
) -> list[Item]:
    """Compare the gradients with respect to all params and to the float inputs.

    Args:
        new: The NNX run, which knows the Linen run.
        chosen: The paths of the outputs that the scalar is made from.
        has_drawn: Whether there are outputs that are drawn anew each time, which do not count.
        tolerance: How far values may be from each other.
        result: Takes what there is to say where nothing is compared.
    """
    if not chosen:
        why = "random" if has_drawn else "no output is a float"
        result.without["gradients"] = why
        return []
    try:
        of_params, of_inputs = new.linen.gradients(chosen)
    # Not every model can be differentiated: loops, integer arithmetic, custom primitives.
    except Exception as error:  # noqa: BLE001 - the result has the reason
        result.without["gradients"] = "Linen has none"
        result.notes.append(f"Linen has no gradients: {first_line(error)}")
        return []
    placements = new.placements({"params": of_params}, new.model)[0]
    filled = [each for each in placements if _is_differentiable(each.slot)]
    others = new.unfilled()
    slots = _once([*(each.slot for each in filled), *others])
    found, found_inputs = new.gradients(chosen, slots)
    by_place = {slot.identity: value for slot, value in zip(slots, found, strict=True)}
    items = []
    for each in filled:
        items += _compared(each.linen, by_place[each.slot.identity], each.value, tolerance)
    for slot in others:
        zero = jax.tree.map(jnp.zeros_like, slot.value)
        items += _compared(f"{slot.path}, not in Linen", by_place[slot.identity], zero, tolerance)
    for index, (one, other) in enumerate(zip(found_inputs, of_inputs, strict=True)):
        items.append(compared_one("gradients", f"input {index}", one, other, tolerance))
    return items


def _is_differentiable(slot: Slot) -> bool:
    leaves = jax.tree.leaves(slot.value)
    return bool(leaves) and all(is_float(leaf) for leaf in leaves)


def _once(slots: list[Slot]) -> list[Slot]:
    return list({slot.identity: slot for slot in slots}.values())


def _compared(name: str, found: Any, expected: Any, tolerance: Tolerance) -> list[Item]:
    one = {f"{name}{jax.tree_util.keystr(path)}": leaf for path, leaf in _leaves(found)}
    other = {f"{name}{jax.tree_util.keystr(path)}": leaf for path, leaf in _leaves(expected)}
    return compared("gradients", one, other, tolerance)


def _leaves(value: Any) -> Any:
    return jax.tree_util.tree_flatten_with_path(value)[0]
