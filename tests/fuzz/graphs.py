"""Checks of every view of a random object graph against a slow walk, after each mutation."""

from __future__ import annotations

import collections
import copy
import dataclasses
import random
import typing as tp

import jax
import jax.numpy as jnp

import typed_nnx as nnx
from tests.fuzz.mutations import Mod, MutableWorld, Tree
from tests.fuzz.slow_walk import (
    MARK,
    Path,
    changed_leaf,
    changed_state,
    ids,
    is_array,
    is_node,
    is_variable,
    leaves,
    mutable_parts,
    same,
    value_view,
    visits,
    walk,
)


def check_state(root: tp.Any) -> None:
    """The State has the leaves of the walk: the very objects."""
    same("state", ids(nnx.to_flat_state(nnx.state(root))), ids(leaves(root)))


def check_filters(root: tp.Any) -> None:
    """Filters divide the leaves by the walk's own test of their types."""
    _, params, stats, rest = nnx.split(root, nnx.Param, nnx.BatchStat, ...)
    expected: dict[type, list[tp.Any]] = {nnx.Param: [], nnx.BatchStat: [], object: []}
    for path, leaf in leaves(root):
        kinds = [k for k in (nnx.Param, nnx.BatchStat) if isinstance(leaf, k)]
        expected[kinds[0] if kinds else object].append((path, leaf))
    for part, rows in zip((params, stats, rest), expected.values(), strict=True):
        same("split by type", ids(nnx.to_flat_state(part)), ids(rows))
    some = nnx.state(root, nnx.PathContains("w"))
    rows = [(p, x) for p, x in leaves(root) if "w" in p]
    same("state by path", ids(nnx.to_flat_state(some)), ids(rows))


def check_merge(root: tp.Any) -> None:
    """Merge gives an equal graph of other nodes around the same Variables."""
    before = walk(root)
    graphdef, state = nnx.split(root)
    merged = nnx.merge(graphdef, state)
    same("merge", walk(merged), before)
    own = {id(x) for _, x, _ in visits(root) if is_node(x) or isinstance(x, list | dict)}
    assert not any(id(x) in own for _, x, _ in visits(merged)), "merge: a node is the old one"
    same("graphdef of merged", nnx.graphdef(merged) == graphdef, True)
    same("split changes nothing", walk(root), before)


def check_clone(root: tp.Any) -> None:
    """A clone is equal and shares nothing that can be changed."""
    made = nnx.clone(root)
    same("clone", walk(made), walk(root))
    shared = mutable_parts(made) & mutable_parts(root)
    rows = [(p, x) for p, x, _ in visits(root) if id(x) in shared]
    assert not rows, f"clone: shared {rows}"
    assert not shared, "clone: containers inside Variables are shared"


def check_deepcopy(root: tp.Any) -> None:
    """`copy.deepcopy` makes an equal graph."""
    same("deepcopy", walk(copy.deepcopy(root)), walk(root))


def check_graphdef(root: tp.Any) -> None:
    """GraphDefs are equal where the walk sees equal structures, and only there."""
    made = nnx.clone(root)
    one, two = nnx.graphdef(root), nnx.graphdef(made)
    same("graphdef of clone", one == two, True)
    hashes: list[int | None] = []
    for graphdef in (one, two):
        try:
            hashes.append(hash(graphdef))
        except TypeError:
            hashes.append(None)
    same("hash of graphdefs", hashes[0] == hashes[1], True)
    nodes = [x for _, x, first in visits(made) if first and isinstance(x, Mod | Tree)]
    if nodes:
        setattr(nodes[-1], "extra", "something")  # noqa: B010 - no attribute of the class
        same("graphdef of another", nnx.graphdef(made) == one, False)
        delattr(nodes[-1], "extra")
        same("graphdef of restored", nnx.graphdef(made) == one, True)


def check_iter_graph(root: tp.Any) -> None:
    """`iter_graph` visits nodes and leaves of the walk, children first."""
    rows = list(nnx.iter_graph(root))
    found = [(p, x) for p, x in rows if is_node(x) or is_variable(x)]
    expected = [(p, x) for p, x, first in visits(root) if first and (is_node(x) or is_variable(x))]
    same("iter_graph", ids(found), ids(expected))
    place = {p: n for n, (p, _) in enumerate(found)}
    assert all(place[p] < place[p[:-1]] for p in place if p and p[:-1] in place), (
        "iter_graph: order"
    )
    modules = [(p, x) for p, x in nnx.iter_modules(root)]
    expected = [(p, x) for p, x in expected if isinstance(x, nnx.Module)]
    same("iter_modules", ids(modules), ids(expected))


def check_duplicates(root: tp.Any) -> None:
    """`find_duplicates` finds what the walk meets more than once."""
    groups: dict[int, list[Path]] = collections.defaultdict(list)
    for path, x, _ in visits(root):
        if is_node(x) or is_variable(x) or is_array(x):
            groups[id(x)].append(path)
    expected = sorted((sorted(map(str, g)) for g in groups.values() if len(g) > 1), key=str)
    found = sorted((sorted(map(str, g)) for g in nnx.find_duplicates(root)), key=str)
    same("find_duplicates", found, expected)


def check_update(root: tp.Any) -> None:
    """Update writes the values of a State into the Variables that are there."""
    made = nnx.clone(root)
    before = leaves(made)
    wanted = [
        (p, value_view(x.get_raw_value() if is_variable(x) else x))
        for p, x in ((p, changed_leaf(x)) for p, x in before)
    ]
    structure = walk(made, values=False)
    kept = {id(x) for _, x in before if is_variable(x)}
    nnx.update(made, changed_state(made))
    after = leaves(made)
    same(
        "update",
        [(p, value_view(x.get_raw_value() if is_variable(x) else x)) for p, x in after],
        wanted,
    )
    same("update keeps the structure", walk(made, values=False), structure)
    assert {id(x) for _, x in after if is_variable(x)} == kept, "update: a Variable is another"


def check_pure_dict(root: tp.Any) -> None:
    """`to_pure_dict` has the values at the paths of the walk."""
    pure = nnx.to_pure_dict(nnx.state(root))
    for path, leaf in leaves(root):
        value: tp.Any = pure
        for key in path:
            value = value[key]
        assert value is (leaf.get_value() if is_variable(leaf) else leaf), f"to_pure_dict: {path}"


def check_flatten(root: tp.Any) -> None:
    """`flatten` and `unflatten` with an index keep identity."""
    graphdef, flat = nnx.flatten(root)
    same("flatten", ids(flat), ids(leaves(root)))
    same("unflatten", walk(nnx.unflatten(graphdef, flat)), walk(root))


def check_verified(root: tp.Any) -> None:
    """The cached record is what a new traversal finds."""
    before = nnx.graphdef(root)
    nnx.invalidate(root)
    same("graphdef after invalidate", nnx.graphdef(root) == before, True)


def total(root: tp.Any) -> tp.Any:
    """Return a number that depends on all values."""
    numbers = [
        jnp.asarray(v).astype(jnp.float32).sum() * (1.0 + 0.1 * n)
        for n, (_, x) in enumerate(leaves(root))
        for v in jax.tree.leaves(x.get_raw_value() if is_variable(x) else x)
    ]
    return sum(numbers, jnp.zeros(()))


def check_jit(root: tp.Any) -> None:
    """A jitted function sees the values of now, and leaves a graph that it only reads as it was."""
    before, parts = walk(root), mutable_parts(root)
    expected = float(total(root))
    found = float(jit_total(root))
    assert abs(found - expected) <= 1e-4 * (1 + abs(expected)), f"jit: {found}, not {expected}"
    same("jit leaves the graph", walk(root), before)
    assert mutable_parts(root) == parts, "jit: an object is another"


jit_total = nnx.jit(total)

CHECKS = (
    check_state, check_filters, check_merge, check_clone, check_graphdef, check_iter_graph,
    check_duplicates, check_update, check_pure_dict, check_flatten, check_verified, check_deepcopy,
)  # fmt: skip


@dataclasses.dataclass
class Failure:
    """A check that failed.

    Attributes:
        seed: That of the world.
        check: The name of the check, or "the mutation".
        text: What it said.
        log: What was done to the graph.
        steps: How many steps there were.
        skip: The steps that were left out.
    """

    seed: int | str
    check: str
    text: str
    log: list[str]
    steps: int
    skip: frozenset[int]

    def __str__(self) -> str:
        steps = f", without the steps {sorted(self.skip)}" if self.skip else ""
        log = "\n  ".join(self.log)
        return f"seed {self.seed}{steps}: {self.check}: {self.text}\n  {log}"


def play(
    seed: int | str, mutations: int = 8, skip: frozenset[int] = frozenset()
) -> tuple[int, Failure | None]:
    """Build the world of a seed, mutate and check it; return the number of checks and what failed."""
    done, name = 0, "the mutation"
    world = MutableWorld(seed, skip)
    try:
        for step in range(mutations):
            chooser = random.Random(f"checks {seed} {step}")
            name = "the mutation"
            if step:
                world.mutate()
            root = world.nodes[0] if chooser.random() < 0.6 else chooser.choice(world.nodes)
            if chooser.random() < 0.1:
                root = [MARK, root, {"k": world.nodes[-1]}]
            checks = chooser.sample(CHECKS, 5)
            if is_node(root) and chooser.random() < 0.03:
                checks.append(check_jit)
            for check in checks:
                name = check.__name__
                check(root)
                done += 1
    except Exception as error:  # noqa: BLE001 - whatever it is, it is reported
        text = f"{type(error).__name__}: {error}"
        return done, Failure(seed, name, text, world.log, world.step, skip)
    return done, None


def cut_down(failure: Failure) -> Failure:
    """Leave out the steps that the failure does not need."""
    again = True
    while again:
        again = False
        for step in range(1, failure.steps + 1):
            if step in failure.skip:
                continue
            _, found = play(failure.seed, skip=failure.skip | {step})
            if found is not None and found.check == failure.check:
                failure, again = found, True
    return failure
