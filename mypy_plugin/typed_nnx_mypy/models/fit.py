"""Whether States have what a model has: leaves that surely are missing, and leaves too many."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from mypy.types import Instance, ProperType, Type, get_proper_type
from mypy.typevars import fill_typevars_with_any

from typed_nnx_codegen.facts.assigned import is_changed_in_place
from typed_nnx_codegen.facts.fields import model_of
from typed_nnx_codegen.facts.filters import (
    Everything,
    Filter,
    Key,
    all_of,
    below,
    looks_at_paths,
    passes,
)
from typed_nnx_codegen.facts.kinds import Kind, kind_of, options
from typed_nnx_codegen.facts.leaves import Leaf, is_leaf, known_subclasses, leaves_of, members_of
from typed_nnx_codegen.facts.states import StateView
from typed_nnx_mypy.call import Argument, Call
from typed_nnx_mypy.models.surgery import may_be_other
from typed_nnx_mypy.reporter import Reporter

Relation: TypeAlias = Literal["same", "related", "unrelated"]
Path: TypeAlias = tuple[Key, ...]

# What `nnx.pop` takes out of models, so that it is there at some times only.
_POPPED: Final = frozenset({"Intermediate", "Perturbation"})
_SHOWN: Final = 3


def relation(one: Type, other: Type) -> Relation | None:
    """Tell how two models are related by their classes; None where that is not sure."""
    first, second = get_proper_type(one), get_proper_type(other)
    if first == second:
        return "same"
    if not isinstance(first, Instance) or not isinstance(second, Instance):
        return None
    if kind_of(first) is not Kind.PYTREE or kind_of(second) is not Kind.PYTREE:
        return None
    for info in (first.type, second.type):
        if info.fallback_to_any or info.is_protocol:
            return None
    if first.type in second.type.mro or second.type in first.type.mro:
        arguments = zip(first.args, second.args, strict=False) if first.type is second.type else ()
        is_other = any(relation(*each) == "unrelated" for each in arguments)
        return "unrelated" if is_other else "related"
    return "unrelated"


@dataclass(frozen=True)
class Misfit:
    """What surely does not fit between a model and States.

    Attributes:
        leaves: The leaves.
        are_extra: Whether States hold them and the model has no place for them. Otherwise the model
            has them, and no State.
    """

    leaves: list[Leaf]
    are_extra: bool

    def __str__(self) -> str:
        names = in_words(self.leaves)
        return f"with {names} too many" if self.are_extra else f"without {names}"


def misfit(
    call: Call, model: Type, of: Filter, given: Sequence[tuple[Argument, StateView]]
) -> Misfit | None:
    """Return what surely does not fit between a model and States that a call is given.

    Args:
      call: The call.
      model: The type of the model.
      of: Which leaves of the model are asked for.
      given: The States, of this model or of others.
    """
    checker, parts = call.checker, [view for _, view in given]
    if _wait_for([model, *(part.model for part in parts)], checker):
        return None
    others = [part for part in parts if relation(model, part.model) == "unrelated"]
    asked = [replace(part, filter=all_of((part.filter, of))) for part in others]
    extra = [leaf for part in asked for leaf in _unknown_to(model, part, checker)]
    found = Misfit(extra or missing(model, of, parts, checker), bool(extra))
    lacking = [model] if extra else [part.model for part in others]
    models = [model, *(part.model for part in others)]
    # The States may be other than their types say, or the call is meant to fail.
    if any(is_changed_in_place(each.expression, checker) for each, _ in given):
        return None
    sure = [
        leaf
        for leaf in found.leaves
        if not any(subclass_may_hold(each, [leaf.path], checker) for each in lacking)
        and not may_be_other(leaf.path, models, call.node, checker, losing=[leaf.type])
    ]
    is_meant = not sure or checker.is_expected_to_fail(call.node)
    return None if is_meant else replace(found, leaves=sure)


def lacks(found: Type, of: Filter, path: Path, checker: Reporter) -> bool:
    """Tell whether the State of a value surely has no leaf at a path.

    Args:
      found: The type of the value.
      of: The filter of the State, for paths from the value.
      path: The path from the value.
      checker: The type checker of the file.
    """
    items, _ = options(found)  # None has no leaves
    return bool(items) and all(_lacks(each, of, path, checker) for each in items)


def _lacks(found: ProperType, of: Filter, path: Path, checker: Reporter) -> bool:
    if is_leaf(found):
        return bool(path) or passes(of, found) is False
    members = members_of(found, checker)
    if not path or path[0] is None or members is None:
        return False
    member = members.at(path[0])
    if member is None:
        return not members.is_open
    if not member.is_ready or member.status == "static":
        return member.is_ready
    left = below(of, path[0])
    if len(path) == 1 and member.is_exact and is_leaf(member.type):
        return passes(left, member.type, is_exact=True) is False
    return lacks(member.type, left, path[1:], checker)


def missing(model: Type, of: Filter, parts: Sequence[StateView], checker: Reporter) -> list[Leaf]:
    """Return the leaves of a model that surely are in none of several States.

    Args:
      model: The type of the model.
      of: Which of its leaves are asked for.
      parts: The States, of this model or of others.
      checker: The type checker of the file.
    """
    known = leaves_of(model, of, checker).items
    gone = [
        leaf
        for leaf in known
        if _is_asked_for(leaf)
        and all(lacks(part.model, part.filter, leaf.path, checker) for part in parts)
    ]
    if any(map(looks_at_paths, (of, *(part.filter for part in parts)))):
        # A Variable that a model has at two paths is in the State at one of them.
        held = [leaf for leaf in known if leaf not in gone]
        gone = [leaf for leaf in gone if not any(_may_be_one(leaf, each) for each in held)]
    return gone


def _is_asked_for(leaf: Leaf) -> bool:
    if not (leaf.is_sure and leaf.passes) or None in leaf.path:
        return False
    return not isinstance(leaf.type, Instance) or not any(
        base.name in _POPPED for base in leaf.type.type.mro
    )


def _may_be_one(leaf: Leaf, other: Leaf) -> bool:
    if leaf.is_own and other.is_own:
        return False
    if not isinstance(leaf.type, Instance) or not isinstance(other.type, Instance):
        return True
    first, second = leaf.type.type, other.type.type
    return first in second.mro or second in first.mro


def _unknown_to(model: Type, part: StateView, checker: Reporter) -> list[Leaf]:
    """Return the leaves of a State that a model surely has not."""
    return [
        leaf
        for leaf in leaves_of(part.model, part.filter, checker).items
        if leaf.passes is not False
        and _is_asked_for(leaf)
        and lacks(model, Everything(), leaf.path, checker)
    ]


def fits_nowhere(model: Type, part: StateView, checker: Reporter) -> bool:
    """Tell whether a model surely has no place for any leaf of a State."""
    known = leaves_of(part.model, part.filter, checker)
    return known.is_complete and all(
        leaf.passes is False or lacks(model, Everything(), leaf.path, checker)
        for leaf in known.items
    )


def _wait_for(models: Iterable[Type], checker: Reporter) -> bool:
    """Tell whether mypy has to find types of models first; the function is then checked again."""
    for each in models:
        found = get_proper_type(each)
        known = model_of(found, checker) if isinstance(found, Instance) else None
        if known is not None and not known.is_ready:
            return checker.defer()
    return False


def subclass_may_hold(
    model: Type, paths: Iterable[Path], checker: Reporter, of: Filter | None = None
) -> bool:
    """Tell whether a class below that of a model may have leaves that the model has not.

    Args:
      model: The type of the model.
      paths: Where the leaves would be.
      checker: The type checker of the file.
      of: The filter that takes them; None for all.
    """
    proper = get_proper_type(model)
    if not isinstance(proper, Instance):
        return True
    below_it = [fill_typevars_with_any(info) for info in known_subclasses(proper.type, checker)]
    of = of if of is not None else Everything()
    return not all(lacks(each, of, path, checker) for each in below_it for path in paths)


def in_words(found: Iterable[Leaf]) -> str:
    """Return the paths of leaves as text, the first of them if there are many."""
    names = [f"`{'.'.join(map(str, leaf.path))}`" for leaf in found]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
