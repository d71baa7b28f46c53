"""Descriptions of filters, built once per library, and the strategy that draws them."""

from __future__ import annotations

import dataclasses
import typing as tp

import jax
import numpy as np
from hypothesis import strategies as st

from tests.graph.worlds import NAMES, VARIABLE_TYPES, World


@dataclasses.dataclass(frozen=True)
class Literal:
    """True, False, None or `...`."""

    value: tp.Any


@dataclasses.dataclass(frozen=True)
class TypeNamed:
    """A Variable type, "jax.Array" or "np.ndarray"; `wrapped` uses `OfType`."""

    name: str
    wrapped: bool


@dataclasses.dataclass(frozen=True)
class Tag:
    """A string; `wrapped` uses `WithTag`."""

    tag: str
    wrapped: bool


@dataclasses.dataclass(frozen=True)
class PathHas:
    """`PathContains(key, exact)`."""

    key: tp.Any
    exact: bool


@dataclasses.dataclass(frozen=True)
class Combined:
    """ "tuple", "list", "Any", "All" or "Not" over other filters."""

    kind: str
    inner: tuple[FilterSpec, ...]


@dataclasses.dataclass(frozen=True)
class Predicate:
    """A user function of (path, value), by name in `PREDICATES`."""

    name: str


FilterSpec = Literal | TypeNamed | Tag | PathHas | Combined | Predicate

PREDICATES: dict[str, tp.Callable[[tuple[tp.Any, ...], tp.Any], bool]] = {
    "odd depth": lambda path, value: len(path) % 2 == 1,
    "has a shape": lambda path, value: hasattr(value, "shape") and len(value.shape) > 0,
    "late key": lambda path, value: bool(path) and str(path[-1]) > "b",
}


def make_filter(world: World, spec: FilterSpec) -> tp.Any:
    """Build the filter that `spec` describes."""
    nnx = world.nnx
    match spec:
        case Literal(value):
            return value
        case TypeNamed("jax.Array" | "np.ndarray" as name, wrapped):
            array_type: type = jax.Array if name == "jax.Array" else np.ndarray
            return nnx.OfType(array_type) if wrapped else array_type
        case TypeNamed(name, wrapped):
            cls = world.type_named(name)
            return nnx.OfType(cls) if wrapped else cls
        case Tag(tag, wrapped):
            return nnx.WithTag(tag) if wrapped else tag
        case PathHas(key, exact):
            return nnx.PathContains(key, exact)
        case Predicate(name):
            return PREDICATES[name]
        case Combined(kind, inner):
            built = [make_filter(world, item) for item in inner]
            if kind in ("tuple", "list"):
                return tuple(built) if kind == "tuple" else built
            return getattr(nnx, kind)(*built)


_types = st.builds(
    TypeNamed, st.sampled_from([*VARIABLE_TYPES, "jax.Array", "np.ndarray"]), st.booleans()
)
_atoms: st.SearchStrategy[FilterSpec] = st.one_of(
    _types,
    _types,
    st.sampled_from([Literal(True), Literal(False), Literal(None)]),
    st.builds(Tag, st.sampled_from(["dropout", "params", "default"]), st.booleans()),
    st.builds(PathHas, st.sampled_from([*NAMES[:4], 0, 10, "n1"]), st.just(True)),
    st.builds(PathHas, st.sampled_from(["a", "x", "n"]), st.just(False)),
    st.builds(Predicate, st.sampled_from(sorted(PREDICATES))),
)


def _combine(inner: st.SearchStrategy[FilterSpec]) -> st.SearchStrategy[FilterSpec]:
    several = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Combined, st.sampled_from(["tuple", "list", "Any", "All"]), several),
        st.builds(Combined, st.just("Not"), st.tuples(inner)),
    )


filter_specs: st.SearchStrategy[FilterSpec] = st.recursive(_atoms, _combine, max_leaves=4)


@st.composite
def filter_lists(draw: st.DrawFn, max_size: int = 3) -> list[FilterSpec]:
    """Draw the filters of one call; most lists end in "everything else", some have `...` too early."""
    filters = draw(st.lists(filter_specs, max_size=max_size))
    ending = draw(st.sampled_from(["none", "rest", "rest", "rest", "true", "early"]))
    if ending == "rest":
        filters.append(Literal(...))
    elif ending == "true":
        filters.append(Literal(True))
    elif ending == "early":
        filters.insert(0, Literal(...))
    return filters
