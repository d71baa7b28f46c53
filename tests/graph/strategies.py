"""Hypothesis strategies for object graphs, near-duplicates of them, and filters."""

from __future__ import annotations

import dataclasses

from hypothesis import strategies as st

from tests.graph.descriptions import (
    Arr,
    ArraySpec,
    Const,
    Graph,
    MakeRngs,
    Map,
    Marked,
    Node,
    NodeSpec,
    Seq,
    Struct,
    Value,
    Var,
    VarSpec,
)

NAMES = ("a", "b", "c", "w", "layers", "x9", "x10", "training")
VARIABLE_TYPES = (
    *("Variable", "Param", "BatchStat", "Cache", "Intermediate", "Perturbation", "LoRAParam"),
    *("OptState", "OptVariable", "RngKey", "RngCount", "UserParam", "UserVar"),
)
PYTREE_CLASSES = ("Mod", "SubMod", "Tree", "List", "Dict")
NODE_CLASSES = (*PYTREE_CLASSES, "Plain", "Obj")

# Statics avoid pairs that Python calls equal across types (1 and True, 2 and 2.0): flax calls their graphdefs
# equal, typed_nnx does not by design.
constants = st.sampled_from(
    [Const(v) for v in ("s", "", 2, -3, True, False, 0.5, 2.5, None, (2, "t"), ("u", (0.5,)))]
)
metadata = st.lists(
    st.sampled_from(
        [("tag", "dropout"), ("tag", "params"), ("note", "n"), ("rate", 0.5), ("size", (2, 3))]
    ),
    max_size=2,
    unique_by=lambda item: item[0],
).map(tuple)
rngs = st.builds(MakeRngs, st.integers(0, 3), st.sampled_from(["params", "dropout"]))
array_specs = st.builds(
    ArraySpec,
    library=st.sampled_from(["jax", "jax", "numpy"]),
    dtype=st.sampled_from(["float32", "int32"]),
    shape=st.sampled_from([(), (1,), (2,), (2, 3), (0,)]),
    fill=st.integers(0, 9),
)


@dataclasses.dataclass(frozen=True)
class Shape:
    """What kind of graphs to draw.

    Attributes:
        classes: node classes to choose from.
        cycles: whether a node may refer to itself or to an ancestor.
        sharing: whether a Variable or node may be met on two paths.
        root_container: whether the root may be a plain container of nodes.
    """

    classes: tuple[str, ...] = NODE_CLASSES
    cycles: bool = True
    sharing: bool = True
    root_container: bool = True


ANY_GRAPH = Shape()
JAX_TREES = Shape(classes=PYTREE_CLASSES, cycles=False, root_container=False)
STRICT_TREES = dataclasses.replace(JAX_TREES, sharing=False)


class _Pool:
    """The references that are still allowed while a graph is drawn."""

    def __init__(self, draw: st.DrawFn, shape: Shape, arrays: int, variables: int) -> None:
        self.draw = draw
        self.shape = shape
        self.arrays = list(range(arrays))
        self.variables = list(range(variables))

    def take(self, indices: list[int]) -> int | None:
        """Draw an index; without sharing it is used up."""
        if not indices:
            return None
        index = self.draw(st.sampled_from(indices))
        if not self.shape.sharing:
            indices.remove(index)
        return index

    def leaf(self) -> Value:
        """Draw a leaf: a Variable, an array or a constant."""
        kind = self.draw(
            st.sampled_from(["variable"] * 6 + ["array"] * 3 + ["constant"] * 3 + ["rngs"])
        )
        if kind == "rngs":
            return self.draw(rngs)
        if kind == "variable" and (index := self.take(self.variables)) is not None:
            return Var(index)
        if kind == "array" and (index := self.take(self.arrays)) is not None:
            return Arr(index)
        return self.draw(constants)

    def child(self, nodes: list[int], depth: int = 0) -> Value:
        """Draw a leaf, a reference to one of `nodes`, or (at most two deep) a plain container."""
        kind = self.draw(st.sampled_from(["leaf"] * 4 + ["node", "container"]))
        if kind == "node" and nodes:
            return Node(self.draw(st.sampled_from(nodes)))
        if kind == "container" and depth < 2:
            return self.container(nodes, depth + 1)
        return self.leaf()

    def container(self, nodes: list[int], depth: int) -> Value:
        """Draw a plain container, a registered dataclass, a namedtuple or an optax state."""
        kind = self.draw(
            st.sampled_from(
                ["list", "tuple", "dict", "int dict", "namedtuple", "dataclass", "keyless", "optax"]
            )
        )
        if kind == "optax":
            index = self.take(self.arrays)
            struct = self.draw(st.sampled_from(["adam", "momentum"]))
            return Const(None) if index is None else Struct(struct, Arr(index), Const(None))
        if kind in ("namedtuple", "dataclass", "keyless"):
            return Struct(kind, self.child(nodes, depth), self.child(nodes, depth))
        items = [self.child(nodes, depth) for _ in range(self.draw(st.integers(0, 2)))]
        if kind == "dict":
            return Map(tuple(zip(("k1", "k0"), items, strict=False)))
        if kind == "int dict":
            return Map(tuple(zip((10, 9), items, strict=False)))
        return Seq(kind, tuple(items))


def _mark(draw: st.DrawFn, value: Value) -> Value:
    """Wrap containers as data (their default is static) and, now and then, other values."""
    if isinstance(value, Seq | Map | Struct):
        return Marked("data", value) if draw(st.integers(0, 3)) else value
    if draw(st.integers(0, 9)) == 0:
        return Marked(draw(st.sampled_from(["data", "static"])), value)
    return value


@st.composite
def graphs(draw: st.DrawFn, shape: Shape = ANY_GRAPH, max_nodes: int = 4) -> Graph:
    """Draw an object graph in which every node is reachable from node 0."""
    arrays = tuple(draw(st.lists(array_specs, min_size=1, max_size=3)))
    variables = tuple(draw(st.lists(variable_specs(len(arrays)), max_size=4)))
    pool = _Pool(draw, shape, len(arrays), len(variables))
    count = draw(st.integers(1, max_nodes))
    classes = [draw(st.sampled_from(shape.classes)) for _ in range(count)]
    attributes: list[list[tuple[str, Value]]] = [[] for _ in range(count)]
    for index in range(1, count):  # a spanning tree first: every node has a parent
        attributes[draw(st.integers(0, index - 1))].append((f"n{index}", Node(index)))
    for index in range(count):
        first = 0 if shape.cycles else index + 1
        below = list(range(first, count)) if shape.sharing else []
        for name in draw(st.lists(st.sampled_from(NAMES), max_size=4, unique=True)):
            value = pool.child(below)
            plain = classes[index] in ("List", "Dict")
            attributes[index].append((name, value if plain else _mark(draw, value)))
    nodes = tuple(
        NodeSpec(c, tuple(draw(st.permutations(a))))
        for c, a in zip(classes, attributes, strict=True)
    )
    root: Value = Node(0)
    if shape.root_container and draw(st.integers(0, 4)) == 0:
        root = Seq("list", (Node(0), pool.leaf(), Map((("k", Node(count - 1)),))))
    return Graph(arrays, variables, nodes, root)


def variable_specs(arrays: int) -> st.SearchStrategy[VarSpec]:
    """Return Variables whose values are arrays of the heap, numbers or a tuple of arrays."""
    array = st.integers(0, arrays - 1).map(Arr)
    pair = st.tuples(array, array).map(lambda items: Seq("tuple", items))
    values: st.SearchStrategy[Value] = st.one_of(
        array, array, array, st.sampled_from([Const(3), Const(0.25)]), pair
    )
    return st.builds(VarSpec, st.sampled_from(VARIABLE_TYPES), values, metadata)


def has_no_text_leaf(graph: Graph) -> bool:
    """Tell graphs in which no str is data; flax cannot handle these everywhere."""
    return "Marked(status='data', value=Const(value='" not in repr(graph)
