"""Near-duplicates of a graph: what graphdef equality must and must not tell apart."""

from __future__ import annotations

import dataclasses
import typing as tp

from hypothesis import strategies as st

from tests.graph.descriptions import Graph, Var
from tests.graph.strategies import ANY_GRAPH, VARIABLE_TYPES, Shape, constants, graphs, metadata


@st.composite
def near_duplicates(draw: st.DrawFn, shape: Shape = ANY_GRAPH) -> list[Graph]:
    """Draw a graph and variations of it that differ in one place, or in none."""
    base = draw(graphs(shape=shape, max_nodes=3))
    other = draw(graphs(shape=shape, max_nodes=2))
    return [base, base, other, *(draw(_variation(base)) for _ in range(3))]


@st.composite
def _variation(draw: st.DrawFn, base: Graph) -> Graph:
    kind = draw(
        st.sampled_from(["order", "static", "metadata", "class", "values", "unshare", "type"])
    )
    index = draw(st.integers(0, len(base.nodes) - 1))
    node = base.nodes[index]
    if kind == "order":
        node = dataclasses.replace(node, attributes=tuple(reversed(node.attributes)))
    elif kind == "static":
        node = dataclasses.replace(node, attributes=(*node.attributes, ("z", draw(constants))))
    elif kind == "class" and node.cls in ("Mod", "SubMod"):
        node = dataclasses.replace(node, cls="Tree")
    elif kind == "values":
        arrays = tuple(dataclasses.replace(a, fill=a.fill + 1) for a in base.arrays)
        return dataclasses.replace(base, arrays=arrays)
    elif kind == "unshare":
        return _unshare(base, index)
    elif base.variables:
        which = draw(st.integers(0, len(base.variables) - 1))
        variable = base.variables[which]
        if kind == "metadata":
            variable = dataclasses.replace(variable, metadata=draw(metadata))
        else:
            variable = dataclasses.replace(variable, type=draw(st.sampled_from(VARIABLE_TYPES)))
        return dataclasses.replace(base, variables=_put(base.variables, which, variable))
    return dataclasses.replace(base, nodes=_put(base.nodes, index, node))


T = tp.TypeVar("T")


def _put(items: tuple[T, ...], index: int, item: T) -> tuple[T, ...]:
    return (*items[:index], item, *items[index + 1 :])


def _unshare(base: Graph, index: int) -> Graph:
    """Give node `index` its own copy of the first Variable that it refers to directly."""
    node = base.nodes[index]
    for position, (name, value) in enumerate(node.attributes):
        if isinstance(value, Var):
            own = (name, Var(len(base.variables)))
            node = dataclasses.replace(node, attributes=_put(node.attributes, position, own))
            variables = (*base.variables, base.variables[value.index])
            return dataclasses.replace(
                base, variables=variables, nodes=_put(base.nodes, index, node)
            )
    return base
