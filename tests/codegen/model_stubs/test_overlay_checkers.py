"""What pyright and mypy make of an overlay; lines with ``# E`` must be errors and no others."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from pathlib import Path

import pytest

from tests.codegen.model_stubs.overlay_models import SOURCE, application
from tests.support.processes import run_process
from tests.support.type_checkers import TypeCheckers
from typed_nnx_codegen.model_stubs.overlay import overlay_text, tree_text
from typed_nnx_codegen.model_stubs.overlay_file import NAME, TREE, write_overlay

_IMPORTS = """\
from typing import Any, assert_type
import jax
import jax.numpy as jnp
{imported}
from app import MLP, Block, Box, Open, Scale, Trio, Wide

"""

# What both checkers know.
STATES = """\
from typed_nnx_models import (
    BlockState, ListState, MLPState, NodeState, RngStreamState, WideState,
)
model = MLP()
state = nnx.state(model)
assert_type(state, MLPState)
assert_type(state.layers, ListState[BlockState])
assert_type(state["layers"], ListState[BlockState])
assert_type(state.layers[0].kernel, nnx.Param[jax.Array])
assert_type(state.layers[0].table, jax.Array)
assert_type(state["layers"][0]["mean"], nnx.BatchStat[jax.Array])
assert_type([key for key in state.layers], list[int])
assert_type(state.bias, nnx.Param[jax.Array])
assert_type(state["filter"], nnx.Param[jax.Array])
assert_type(state.box.inner, BlockState)
assert_type(state.box.shelf[0].mean, nnx.BatchStat[jax.Array])
assert_type(state.var_box.inner, nnx.Param[jax.Array])
assert_type(state.node.child, NodeState)
assert_type(state.node.child.child.value, nnx.Param[jax.Array])
assert_type(state.rngs.dropout, RngStreamState)
assert_type(state.rngs.params.key, nnx.RngKey)
assert_type(state.heads.a.kernel, nnx.Param[jax.Array])
assert_type(state.heads["a"].kernel, nnx.Param[jax.Array])
assert_type(state.odd, Any)
leaves = nnx.to_flat_state(nnx.state(Trio()))
assert_type(
    leaves.leaves, list[nnx.BatchStat[jax.Array] | nnx.Cache[jax.Array] | nnx.Param[jax.Array]]
)
assert_type(nnx.to_flat_state(state), nnx.FlatState[Any])
assert_type(nnx.to_flat_state(state.layers), nnx.FlatState[Any])
pair = nnx.state(Trio()).pair
assert_type(pair[0], nnx.Param[jax.Array])
assert_type(pair[1], nnx.Cache[jax.Array])
assert_type([pair[key] for key in pair], list[nnx.Param[jax.Array] | nnx.Cache[jax.Array]])
pair["0"]  # E
pair.nope  # E
state.nope  # E
state.width  # E
state.layers.nope  # E
state.layers[0].nope  # E
state.node.child.nope  # E
assert_type(nnx.state(Wide()), WideState)
assert_type(nnx.state(Wide()).more, nnx.Cache[jax.Array])
assert_type(nnx.state(Box(Block())).inner, BlockState)
assert_type(nnx.state(Box(nnx.Param(jnp.ones(2)))).inner, nnx.Param[jax.Array])
assert_type(nnx.state(Box(jnp.ones(2))).inner, jax.Array)
nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0))).kernel
open_state = nnx.state(Open("block"))
assert_type(open_state.kernel, nnx.Param[jax.Array])
assert_type(open_state.block, Any)
open_state.block.kernel
assert_type(open_state["block"], Any)
"""

# mypy, which solves no protocol within another, needs the plugin for the items of a container alone.
CONTAINERS = """\
from typed_nnx_models import BlockState, ListState
model = MLP()
assert_type(nnx.state(model.layers), ListState[BlockState])
assert_type(nnx.state(model.heads)["a"], BlockState)
assert_type(nnx.state(nnx.List([model.layers]))[0][0].kernel, nnx.Param[jax.Array])
assert_type(nnx.state(nnx.List([nnx.Param(jnp.ones(2))]))[0], nnx.Param[jax.Array])
nnx.state(nnx.List([nnx.Linear(2, 3, rngs=nnx.Rngs(0))]))[0].kernel
nnx.state(model.layers)[0].nope  # E
nnx.state(model.heads)["a"].nope  # E
"""

USES = """\
model = MLP()
graphdef, state = nnx.split(model)
state.bias = nnx.Param(jnp.ones(2))
state["bias"] = nnx.Param(jnp.ones(2))
state["bias"] = jnp.ones(2)
state.box.inner = nnx.state(Block())
state.new = 3
del state["bias"]
name: str = "bias"
state[name]
for key in state:
    state[key].value
for number, text in enumerate(("bias", "layers")):
    state[text]
    state[f"layer_{number}"].value
    state["layer_" + str(number)].value
nnx.update(model, state)
assert_type(nnx.merge(graphdef, state), MLP)
jax.tree.map(lambda leaf: leaf, state)
state.flat_state()
state.to_pure_dict()
bias: jax.Array = nnx.as_pure(state).bias
list(state.layers.values())[0].kernel
def takes_any_state(state: nnx.State) -> None: ...
takes_any_state(state)
takes_any_state(state.layers)
"""

# mypy leaves them to its plugin.
PARTS = """\
from typed_nnx_models import (
    BlockParamState, BlockRestOfParamState, MLPBatchStatState, MLPParamState,
    MLPRestOfParamState, MLPScaleState, MLPState,
)
from typing import TypeVar
M = TypeVar("M", bound=MLP)
N = TypeVar("N", bound=nnx.Module)
model = MLP()
params = nnx.state(model, nnx.Param)
assert_type(params, MLPParamState)
assert_type(params.layers[0], BlockParamState)
assert_type(params.layers[0].kernel, nnx.Param[jax.Array])
assert_type(params["scale"], Scale)
assert_type(params.box.inner, BlockParamState)
assert_type(params.var_box.inner, nnx.Param[jax.Array])
params.layers[0].mean  # E
params.layers[0].table  # E
params.rngs  # E
scales = nnx.state(model, Scale)
assert_type(scales, MLPScaleState)
scales.bias  # E
assert_type(nnx.state(Trio(), nnx.Cache).pair[1], nnx.Cache[jax.Array])
for _, cache in nnx.to_flat_state(nnx.state(Trio(), nnx.Cache)):
    assert_type(cache, nnx.Cache[jax.Array])
assert_type(nnx.state(model.layers, nnx.Param)[0], BlockParamState)
_, params, rest = nnx.split(model.layers, nnx.Param, ...)
assert_type(params[0], BlockParamState)
assert_type(rest[0], BlockRestOfParamState)
params[0].mean  # E
nnx.state(Trio(), nnx.Cache).pair[0].value  # E
nnx.state(model, nnx.LoRAParam).anything
nnx.state(model, nnx.Intermediate).anything
# Filters that are objects take some of what there is.
kernels = nnx.All(nnx.Param, nnx.PathContains("kernel"))
assert_type(nnx.state(model, nnx.Not(nnx.Param)), MLPState)
assert_type(nnx.state(model, kernels), MLPState)
nnx.state(model, kernels).anything  # E
_, some, params, rest = nnx.split(model, kernels, nnx.Param, ...)
assert_type(some, MLPState)
assert_type(params, MLPParamState)
assert_type(rest, MLPState)
nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0)), kernels).anything
nnx.state(model, "tag").anything
assert_type(nnx.state(model, ...), MLPState)
_, first, second = nnx.split(model, nnx.Param, nnx.BatchStat)
assert_type(first, MLPParamState)
assert_type(second, MLPBatchStatState)
_, first, rest = nnx.split(model, nnx.Param, ...)
assert_type(rest, MLPRestOfParamState)
assert_type(rest.layers[0], BlockRestOfParamState)
assert_type(rest.layers[0].table, jax.Array)
assert_type(rest.box.inner, BlockRestOfParamState)
rest.bias  # E
assert_type(nnx.split(model, nnx.Cache, ...)[2], MLPState)
assert_type(nnx.state(Box(Block()), nnx.Param).inner, BlockParamState)
nnx.state(nnx.Linear(2, 3, rngs=nnx.Rngs(0)), nnx.Param).kernel
# An object of the type of `self`, or of a type variable.
class Child(MLP):
    def params(self):
        return nnx.state(self, nnx.Param)
    def rest(self):
        _, params, rest = nnx.split(self, nnx.Param, ...)
        return rest
def of_variable(model: M) -> M:
    assert_type(nnx.state(model, nnx.Param), MLPParamState)
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    assert_type(rest, MLPRestOfParamState)
    nnx.merge(graphdef, params, rest)
    return model
def of_any_module(model: N) -> N:
    graphdef, params, rest = nnx.split(model, nnx.Param, ...)
    nnx.merge(graphdef, params, rest)
    return model
assert_type(Child().params(), MLPParamState)
assert_type(Child().rest(), MLPRestOfParamState)
Child().params().rngs  # E
"""

# The same through the methods of a State, and filters in a row. mypy leaves them to its plugin.
FILTERS = """\
from typed_nnx_models import (
    BlockParamState, BlockRestOfBatchStatAndParamState, MLPBatchStatState, MLPParamState,
    MLPRestOfBatchStatAndParamState, MLPRestOfBatchStatState, MLPRestOfParamState,
    MLPState, TrioCacheState, TrioParamState,
)
model = MLP()
state = nnx.state(model)
params, rest = state.split(nnx.Param, ...)
assert_type(params, MLPParamState)
assert_type(rest, MLPRestOfParamState)
params.layers[0].mean  # E
assert_type(state.filter(nnx.Param), MLPParamState)
assert_type(state.filter(nnx.Param, nnx.BatchStat), tuple[MLPParamState, MLPBatchStatState])
assert_type(state.layers[0].filter(nnx.Param), BlockParamState)
assert_type(nnx.filter_state(state, nnx.Param), MLPParamState)
assert_type(nnx.state(Box(Block())).filter(nnx.Param).inner, BlockParamState)
state.filter("tag").anything
state.filter(nnx.Intermediate).anything
_, params, stats, rest = nnx.split(model, nnx.Param, nnx.BatchStat, ...)
assert_type(stats, MLPBatchStatState)
assert_type(rest, MLPRestOfBatchStatAndParamState)
assert_type(rest.layers[0], BlockRestOfBatchStatAndParamState)
assert_type(rest.layers[0].table, jax.Array)
assert_type(rest.rngs.params.key, nnx.RngKey)
rest.bias  # E
rest.layers[0].kernel  # E
rest.layers[0].mean  # E
assert_type(state.split(nnx.Param, nnx.BatchStat, ...)[2], MLPRestOfBatchStatAndParamState)
turned = nnx.split(model, nnx.BatchStat, nnx.Param, ...)
assert_type(turned[3], MLPRestOfBatchStatAndParamState)
# A filter that takes nothing of what is left, or too much to say what.
assert_type(nnx.split(model, nnx.BatchStat, nnx.Cache, ...)[3], MLPRestOfBatchStatState)
assert_type(nnx.split(model, nnx.BatchStat, nnx.LoRAParam, ...)[3], MLPRestOfBatchStatState)
nnx.split(model, nnx.BatchStat, "tag", ...)[3].bias
nnx.split(model, nnx.BatchStat, Scale, nnx.Param, ...)[4].rngs
nnx.split(nnx.Linear(2, 3, rngs=nnx.Rngs(0)), nnx.Param, nnx.BatchStat, ...)[3].anything
# Two filters leave what a third one takes, or nothing.
assert_type(nnx.split(Trio(), nnx.Param, nnx.BatchStat, ...)[3], TrioCacheState)
assert_type(nnx.split(Trio(), nnx.Cache, nnx.BatchStat, ...)[3], TrioParamState)
_, params, rest = nnx.split(Open("block"), nnx.Param, ...)
assert_type(params.block, Any)
assert_type(rest.block, Any)
# Filters without State classes, and models without them.
nnx.state(model, nnx.Variable).layers[0].kernel
nnx.state(model, nnx.RngKey).rngs.params.key
nnx.state(model.layers, nnx.Param)[0].kernel
nnx.split(model.layers, nnx.Param, ...)[2][0].mean
# A key that is no field.
state["nope"].value  # E
state["layers"][0]["nope"].value  # E
array: jax.Array = state["width"]  # E
params = nnx.state(model, nnx.Param)
params["rngs"].dropout  # E
"""

# The gradient by a model is a State of the object that is given. mypy leaves it to its plugin.
GRADIENTS = """\
from typing import TypeVar
from collections.abc import Callable
from typed_nnx_models import BlockParamState, MLPParamState, MLPState, WideParamState
import optax
tx = optax.sgd(0.1)
M = TypeVar("M", bound=nnx.Module)
x = jnp.ones(2)
def of_mlp(model: MLP, x: jax.Array) -> jax.Array:
    raise NotImplementedError
def of_module(model: nnx.Module, x: jax.Array) -> jax.Array:
    raise NotImplementedError
def of_maybe(model: MLP | None) -> jax.Array:
    raise NotImplementedError
def of_two(first: MLP, second: nnx.Module) -> jax.Array:
    raise NotImplementedError
def with_aux(model: MLP, x: jax.Array) -> tuple[jax.Array, int]:
    raise NotImplementedError
def untyped(model, x):
    return x.mean()
assert_type(nnx.grad(of_mlp)(MLP(), x), MLPParamState)
assert_type(nnx.grad(of_mlp)(model=MLP(), x=x), MLPParamState)
assert_type(nnx.grad(of_mlp)(Wide(), x), WideParamState)
assert_type(nnx.grad(of_module)(Block(), x), BlockParamState)
assert_type(nnx.value_and_grad(of_module)(Block(), x), tuple[jax.Array, BlockParamState])
assert_type(nnx.grad(with_aux, has_aux=True)(Wide(), x), tuple[WideParamState, int])
assert_type(nnx.grad(nnx.remat(of_module))(Block(), x), BlockParamState)
assert_type(nnx.jit(nnx.grad(of_module))(Block(), x), BlockParamState)
assert_type(nnx.vmap(nnx.grad(of_module), in_axes=(None, 0))(Block(), x), BlockParamState)
assert_type(nnx.grad(of_maybe)(MLP()), MLPParamState)
assert_type(nnx.grad(of_module, argnums=(0,))(Block(), x), tuple[BlockParamState])
assert_type(nnx.grad(of_two, argnums=1)(MLP(), Block()), BlockParamState)
assert_type(
    nnx.grad(of_two, argnums=(0, 1))(Wide(), Block()), tuple[WideParamState, BlockParamState]
)
assert_type(nnx.grad(of_mlp, argnums=nnx.DiffState(0, ...))(MLP(), x), MLPState)
kernels = nnx.DiffState(0, nnx.PathContains("kernel"))
assert_type(nnx.grad(of_mlp, argnums=kernels)(MLP(), x), MLPState)
nnx.grad(of_mlp)(Wide(), x).more  # E
nnx.grad(of_mlp)(Block(), x)  # E
nnx.grad(of_module)(x, x)  # E
nnx.grad(of_module)(Block())  # E
# A function, or a value, of which no type is known.
assert_type(nnx.grad(lambda model: model(x).mean())(Block()), BlockParamState)
assert_type(nnx.grad(untyped)(Block(), x), BlockParamState)
assert_type(nnx.jit(nnx.grad(untyped))(Block(), x), BlockParamState)
assert_type(nnx.grad(untyped, argnums=1)(x, Block()), BlockParamState)
assert_type(
    nnx.grad(untyped, argnums=(0, 1))(Wide(), Block()), tuple[WideParamState, BlockParamState]
)
assert_type(nnx.grad(lambda x: x.mean())(x), jax.Array)
assert_type(nnx.jit(nnx.grad(lambda x: x.mean()))(x), jax.Array)
assert_type(nnx.vmap(nnx.grad(lambda x: x.mean()))(x), jax.Array)
assert_type(nnx.grad(lambda tree: tree["x"].mean())({"x": x}), dict[str, jax.Array])
assert_type(nnx.grad(untyped)(nnx.Param(x), x), nnx.Param[jax.Array])
nnx.grad(untyped)(Block(), x).nope  # E
nnx.grad(untyped)(Block())  # E
def of_batch(batch: Any) -> None:
    assert_type(nnx.grad(of_mlp)(MLP(), batch["x"]), MLPParamState)
    assert_type(nnx.grad(of_module)(Block(), batch["x"]), BlockParamState)
    assert_type(nnx.grad(untyped)(Block(), batch["x"]), BlockParamState)
def generic(model: M, loss: Callable[[M, jax.Array], jax.Array]) -> M:
    value, grads = nnx.value_and_grad(loss)(model, x)
    nnx.Optimizer(model, tx, wrt=nnx.Param).update(model, grads)
    return model
def step(model: MLP, optimizer: nnx.Optimizer[MLP]) -> None:
    optimizer.update(model, nnx.grad(of_module)(model, x))
    optimizer.update(model, nnx.grad(untyped)(model, x))
    optimizer.update(model, nnx.grad(of_module)(Block(), x))  # E
"""

# jax gives its functions of trees no types.
TREES = """\
from typed_nnx_models import MLPParamState, MLPState
params = {state}(MLP(), nnx.Param)
def stepped(param: jax.Array, slope: jax.Array) -> jax.Array:
    return param - 0.1 * slope
assert_type(jax.tree.map(jnp.zeros_like, params), MLPParamState)
assert_type(jax.tree.map(lambda p: 2 * p, {state}(MLP())), MLPState)
assert_type(jax.tree.map(lambda p, g: p - 0.1 * g, params, params), MLPParamState)
assert_type(jax.tree.map(stepped, params, params).bias, nnx.Param[jax.Array])
assert_type(jax.tree.map(lambda p: p.astype(jnp.bfloat16), MLP()), MLP)
jax.tree.map(jnp.zeros_like, params).nope  # E
# Not arrays, or not what these types are of.
assert_type(jax.tree.map(lambda p: p.shape, params), Any)
assert_type(jax.tree.map(jnp.shape, params), Any)
assert_type(jax.tree.map(lambda p: p, params, is_leaf=lambda node: True), Any)
assert_type(jax.tree.map(lambda p: 2 * p, {{"x": jnp.ones(2)}}), Any)
assert_type(jax.tree.leaves(params), list[Any])
jax.tree.all(jax.tree.map(lambda p: p.ndim > 1, params))
jax.tree.reduce(lambda x, y: x + y, params)
leaves, treedef = jax.tree.flatten(params)
jax.tree.unflatten(treedef, leaves)
jax.tree.structure(params)
"""

FLAX = """\
from typing import TYPE_CHECKING, cast
from typed_nnx_models import BlockParamState, MLPParamState, MLPRestOfParamState, MLPState
if TYPE_CHECKING:
    from typed_nnx_models import split, state
else:
    from flax.nnx import split, state
model = MLP()
assert_type(state(model), MLPState)
assert_type(state(model).layers[0].kernel, nnx.Param[jax.Array])
assert_type(state(model)["filter"], nnx.Param[jax.Array])
assert_type(state(model).box.inner.kernel, nnx.Param[jax.Array])
params = state(model, nnx.Param)
assert_type(params, MLPParamState)
assert_type(params.layers[0], BlockParamState)
params.layers[0].mean  # E
graphdef, taken, rest = split(model, nnx.Param, ...)
assert_type(graphdef, nnx.GraphDef[MLP])
assert_type(taken, MLPParamState)
assert_type(rest, MLPRestOfParamState)
nnx.update(model, taken, rest)
assert_type(nnx.merge(graphdef, taken, rest), MLP)
cast(MLPState, nnx.state(model)).nope  # E
state(model)["nope"].value  # E
state(nnx.Linear(2, 3, rngs=nnx.Rngs(0))).kernel
"""


def project(folder: Path, runtime: str, files: dict[str, str]) -> set[tuple[str, int]]:
    """Write a project with an overlay and return the places where errors must be."""
    imported = "import typed_nnx as nnx" if runtime == "typed_nnx" else "from flax import nnx"
    (folder / "app.py").write_text(SOURCE.format(imported=imported))
    command = "typed-nnx stubs app.py"
    text = overlay_text(application(runtime), runtime=runtime, command=command)
    tree = folder / "typings" / TREE
    write_overlay({folder / "typings" / NAME: text, tree: tree_text(runtime, command)})
    expected = set()
    for name, body in files.items():
        whole = _IMPORTS.format(imported=imported) + body
        (folder / name).write_text(whole)
        lines = enumerate(whole.splitlines(), 1)
        expected |= {(name, number) for number, line in lines if line.endswith("# E")}
    return expected


def pyright_errors(folder: Path) -> dict[tuple[str, int], str]:
    """Check everything in the folder, the overlay too."""
    (folder / "pyrightconfig.json").write_text(json.dumps({"include": ["."]}))
    found = TypeCheckers(folder, timeout=900).pyright()
    return {
        (Path(each.path).name, each.line): each.message
        for each in found
        if each.severity in ("error", "warning") and each.code != "reportUnusedExpression"
    }


def mypy_errors(folder: Path, *files: str) -> dict[tuple[str, int], str]:
    checkers = TypeCheckers(folder, environment={"MYPYPATH": "typings"}, timeout=900)
    found = checkers.mypy("--strict", *files)
    return {(Path(each.path).name, each.line): each.message for each in found if each.is_error}


def differences(
    found: dict[tuple[str, int], str], expected: set[tuple[str, int]]
) -> dict[str, object]:
    """Both kinds of wrong lines, so that a failure shows them."""
    return {
        "not expected": {place: found[place] for place in found.keys() - expected},
        "missing": expected - found.keys(),
    }


NONE_DIFFER: dict[str, object] = {"not expected": {}, "missing": set()}


@pytest.mark.thorough
def test_pyright_knows_the_fields_of_states_and_parts_and_finds_nothing_in_the_overlay(
    tmp_path: Path,
) -> None:
    files = {"states.py": STATES, "uses.py": USES, "parts.py": PARTS}
    files |= {"filters.py": FILTERS, "gradients.py": GRADIENTS, "containers.py": CONTAINERS}
    files |= {"trees.py": TREES.format(state="nnx.state")}
    expected = project(tmp_path, "typed_nnx", files)
    assert differences(pyright_errors(tmp_path), expected) == NONE_DIFFER


@pytest.mark.thorough
def test_pyright_knows_the_fields_of_states_of_flax_models(tmp_path: Path) -> None:
    trees = "from typed_nnx_models import state\n" + TREES.format(state="state")
    expected = project(tmp_path, "flax.nnx", {"states.py": FLAX, "trees.py": trees})
    assert differences(pyright_errors(tmp_path), expected) == NONE_DIFFER


@pytest.mark.slow  # mypy reads the library; what the overlay means is checked with pyright above
def test_mypy_knows_the_fields_of_states_and_finds_no_wrong_error(tmp_path: Path) -> None:
    expected = project(tmp_path, "typed_nnx", {"states.py": STATES, "uses.py": USES})
    found = mypy_errors(tmp_path, "states.py", "uses.py")
    assert differences(found, expected) == NONE_DIFFER


def reports(checker: str, folder: Path) -> dict[tuple[str, int], str]:
    """What another checker says of the folder; the test is skipped where it is not installed."""
    program = shutil.which(checker, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    if program is None:
        pytest.skip(f"{checker} is not installed")
    packages = [path for path in sys.path if path.endswith(("site-packages", *_OF_OURS))]
    (folder / "pyrightconfig.json").write_text(json.dumps({"extraPaths": packages}))
    searched = [
        option for path in ("typings", ".", *packages) for option in (_PATHS[checker], path)
    ]
    done = run_process(
        [program, *_CHECKS[checker], *(searched if _PATHS[checker] else ())],
        timeout=900,
        cwd=folder,
    )
    found = re.findall(r"(\w+\.pyi?):(\d+):\d+[^a-z]*(error.*|.*\])$", done.stdout, re.MULTILINE)
    assert found, done.stdout + done.stderr
    return {(name, int(line)): message for name, line, message in found}


_OF_OURS = ("codegen", "mypy_plugin", "src", "stubs")
_CHECKS = {
    "basedpyright": ("--level", "error"),
    "pyrefly": ("check", "--output-format", "min-text"),
    "ty": ("check", "--project", ".", "--output-format", "concise"),
}
_PATHS = {"basedpyright": "", "pyrefly": "--search-path", "ty": "--extra-search-path"}
# What they know as pyright does; of other files, that they report nothing that is right.
_KNOWN = {
    "basedpyright": {
        f"{name}.py" for name in ("states", "uses", "parts", "filters", "gradients", "trees")
    },
    "pyrefly": {"states.py", "uses.py"},
    "ty": {"states.py", "uses.py"},
}
# What is right and one of them may report: ty joins what several overloads of `state` give, and
# reports one of these lines, not always the same.
_MAY_REPORT = {
    "ty": (
        "nnx.state(model, nnx.LoRAParam).anything",
        "nnx.state(model, nnx.Intermediate).anything",
    )
}


@pytest.mark.slow
@pytest.mark.parametrize("checker", sorted(_CHECKS))
def test_other_checkers_report_nothing_that_is_right(checker: str, tmp_path: Path) -> None:
    files = {"states.py": STATES, "uses.py": USES, "parts.py": PARTS}
    files |= {"filters.py": FILTERS, "gradients.py": GRADIENTS, "containers.py": CONTAINERS}
    files |= {"trees.py": TREES.format(state="nnx.state")}
    expected = project(tmp_path, "typed_nnx", files)
    lines = {name: (tmp_path / name).read_text().splitlines() for name in files}
    found = {
        (name, line): message
        for (name, line), message in reports(checker, tmp_path).items()
        if name in _KNOWN[checker] or (name in lines and "assert_type" not in lines[name][line - 1])
    }
    outside = {place for place in expected - found.keys() if place[0] not in _KNOWN[checker]}
    may = _MAY_REPORT.get(checker, ())
    wrong = {(name, line) for name, line in found if lines[name][line - 1] in may}
    assert differences(found, (expected - outside) | wrong) == NONE_DIFFER
