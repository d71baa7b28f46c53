"""Hypothesis strategies for programs and for the small object graphs that they run on."""

from __future__ import annotations

import dataclasses
import typing as tp

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
from tests.transforms.program_changes import (
    FAILURES,
    Alias,
    Append,
    Attach,
    Delete,
    Fail,
    Make,
    Nested,
    PopSown,
    ReadStatic,
    Replace,
    Return,
    SetMetadata,
    SetStatic,
    Shorten,
    Sow,
    Swap,
)
from tests.transforms.program_worlds import PASSINGS, Scenario
from tests.transforms.programs import (
    FRESH,
    NAMES,
    WRITES,
    Draw,
    Read,
    ReadArray,
    Step,
    Write,
    WriteArray,
)

VARIABLE_TYPES = ("Param", "Param", "BatchStat", "Intermediate", "UserParam")
Steps = tuple[Step, ...]

index = st.integers(0, 11)
names = st.sampled_from(NAMES)

value_steps: dict[type[Step], st.SearchStrategy[Step]] = {
    Write: st.builds(Write, index, st.sampled_from(WRITES), st.integers(1, 3)),
    Read: st.builds(Read, index, st.integers(0, 2)),
    ReadArray: st.builds(ReadArray, index),
    WriteArray: st.builds(WriteArray, index),
    Draw: st.builds(Draw, index, st.booleans()),
    ReadStatic: st.builds(ReadStatic, index),
}
structure_steps: dict[type[Step], st.SearchStrategy[Step]] = {
    Attach: st.builds(Attach, index, names, st.sampled_from(FRESH)),
    Delete: st.builds(Delete, index),
    Replace: st.builds(Replace, index, st.sampled_from(FRESH)),
    Swap: st.builds(Swap, index, index),
    Alias: st.builds(Alias, index, names, index),
    Append: st.builds(Append, index, st.sampled_from(FRESH), st.booleans()),
    Shorten: st.builds(Shorten, index, st.booleans()),
    Sow: st.builds(Sow, index, names),
    PopSown: st.builds(PopSown, index),
    SetStatic: st.builds(SetStatic, index, st.sampled_from(["eval", "fast", 3])),
    SetMetadata: st.builds(SetMetadata, index, st.sampled_from(["n", 2, None])),
}
output_steps: dict[type[Step], st.SearchStrategy[Step]] = {
    Make: st.builds(Make, st.sampled_from(["param", "module", "list", "rngs"])),
    Return: st.builds(Return, index),
}
failing_steps: dict[type[Step], st.SearchStrategy[Step]] = {
    Fail: st.builds(Fail, st.sampled_from(FAILURES))
}


def nested_steps(transforms: tp.Sequence[str]) -> st.SearchStrategy[Step]:
    """Return steps that call a transformed function with a short program."""
    inner = st.lists(any_of(value_steps, structure_steps, output_steps), min_size=1, max_size=3)
    return st.builds(Nested, st.sampled_from(transforms), index, inner.map(tuple))


def any_of(*kinds: tp.Mapping[type[Step], st.SearchStrategy[Step]]) -> st.SearchStrategy[Step]:
    """Return steps of the given groups; each group is as likely as the others."""
    return st.one_of([st.one_of(list(kind.values())) for kind in kinds])


def programs(
    *kinds: tp.Mapping[type[Step], st.SearchStrategy[Step]], max_size: int = 7
) -> st.SearchStrategy[Steps]:
    """Return programs of steps of the given groups; all lengths are equally likely."""
    steps = any_of(*kinds)
    sizes = st.integers(1, max_size)
    return sizes.flatmap(lambda n: st.lists(steps, min_size=n, max_size=n)).map(tuple)


def failing_programs(
    *kinds: tp.Mapping[type[Step], st.SearchStrategy[Step]], max_size: int = 4
) -> st.SearchStrategy[Steps]:
    """Return programs that end in an error, if they come as far as that."""
    last = any_of(failing_steps)
    return st.builds(lambda steps, end: (*steps, end), programs(*kinds, max_size=max_size), last)


@dataclasses.dataclass(frozen=True)
class Kind:
    """What kind of object graphs to draw.

    Attributes:
        scalars: whether arrays may have shape () beside (2,).
        rngs: whether there may be random streams.
        lists: whether nodes may be an `nnx.List` and attributes plain lists.
        arrays: whether attributes may be bare arrays.
        sharing: whether a Variable or node may be met on two paths, and a node on a path below itself.
    """

    scalars: bool = True
    rngs: bool = True
    lists: bool = True
    arrays: bool = True
    sharing: bool = True


@st.composite
def graphs(draw: st.DrawFn, kind: Kind = Kind()) -> Graph:
    """Draw an object graph of one to three nodes; node 0 reaches the others."""
    shape = st.sampled_from([(2,), (2,), ()] if kind.scalars else [(2,)])
    count = draw(st.integers(1, 3))
    variables = draw(st.integers(1, 3))
    arrays = tuple(
        ArraySpec("jax", "float32", draw(shape), fill + 1) for fill in range(variables + 1)
    )
    specs = tuple(
        VarSpec(draw(st.sampled_from(VARIABLE_TYPES)), Arr(i), (("note", "n"),) if i == 0 else ())
        for i in range(variables)
    )
    classes = ["Mod", "Mod", "Tree", "Obj", "Dict"] + ["List"] * 2 * kind.lists
    chosen = ["Mod", *(draw(st.sampled_from(classes)) for _ in range(count - 1))]
    attributes: list[list[tuple[str, Value]]] = [[] for _ in range(count)]
    for node in range(1, count):
        attributes[draw(st.integers(0, node - 1))].append((f"n{node}", Node(node)))
    unused = list(range(variables))
    for node in range(count):
        size = draw(st.integers(1, 3))
        for name in draw(st.lists(names, min_size=size, max_size=size, unique=True)):
            child = _child(draw, kind, count, variables, unused)
            plain = chosen[node] in ("List", "Dict")
            is_list = isinstance(child, Seq)
            attributes[node].append(
                (name, Marked("data", child) if is_list and not plain else child)
            )
    nodes = tuple(NodeSpec(c, tuple(a)) for c, a in zip(chosen, attributes, strict=True))
    return Graph(arrays, specs, nodes)


def _child(draw: st.DrawFn, kind: Kind, nodes: int, variables: int, unused: list[int]) -> Value:
    """Draw what an attribute holds: a Variable, mostly."""
    choices = ["variable"] * 5 + ["array"] * 2 * kind.arrays + ["constant"]
    choices += ["node"] * kind.sharing + ["list"] * 2 * kind.lists + ["rngs"] * 3 * kind.rngs
    match draw(st.sampled_from(choices)):
        case "node":
            return Node(draw(st.integers(0, nodes - 1)))
        case "array":
            return Arr(variables)
        case "list" if kind.sharing:
            return Seq("list", (Var(draw(st.integers(0, variables - 1))), Arr(variables)))
        case "rngs":
            return MakeRngs(draw(st.integers(0, 3)), "params")
        case "variable" if kind.sharing:
            return Var(draw(st.integers(0, variables - 1)))
        case "variable" if unused:
            return Var(unused.pop())
    return Const("static")


#: The second argument: alone or in containers, with parts of the first argument in it or not.
others: st.SearchStrategy[Value] = st.one_of(
    st.just(Const(None)),
    st.builds(Node, index),
    st.builds(Var, index),
    st.builds(lambda i, j: Seq("tuple", (Node(i), Var(j))), index, index),
    st.builds(lambda i, j: Map((("x", Var(i)), ("y", Seq("list", (Node(j),))))), index, index),
    st.builds(Struct, st.just("dataclass"), st.builds(Node, index), st.builds(Var, index)),
    st.builds(MakeRngs, st.integers(0, 3), st.just("dropout")),
)


def scenarios(
    bodies: st.SearchStrategy[Steps],
    kind: Kind = Kind(),
    passings: tp.Sequence[str] = PASSINGS,
    others: st.SearchStrategy[Value] = others,
    calls: tp.Sequence[int] = (1, 1, 2),
) -> st.SearchStrategy[Scenario]:
    """Return scenarios: objects, a program, and what happens to the objects between the calls."""
    between = st.lists(any_of(value_steps, structure_steps), max_size=2).map(tuple)
    return st.builds(
        Scenario,
        graph=graphs(kind),
        other=others,
        passing=st.sampled_from(passings),
        body=bodies,
        between=between,
        calls=st.sampled_from(calls),
    )
