"""Makes small programs of older spellings: those that the plugin for mypy reports, and those that are gone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from typed_nnx_codegen.facts.names import HOOKS, VARIABLES
from typed_nnx_mypy.checks.deprecated import CELLS, SPELLINGS


class Older(NamedTuple):
    """An older spelling; with a keyword, it is the argument of that name that is old."""

    name: str
    keyword: str = ""


WORKING: Final[dict[str, list[Older]]] = {}
"""By the numbers of rules: what still works, which the plugin reports."""
for _each in SPELLINGS:
    WORKING.setdefault(_each.code, []).append(Older(_each.name, _each.keyword))

_GONE: Final = {
    "TN102": "Module.split",
    "TN104": "ModuleDef.merge GraphDef.merge Module.get_state Module.extract Module.filter Module.update "
    "Module.update_state Module.clone Module.init Module.create_abstract Module.partial_init",
    "TN109": "Sequence ModuleList",
    "TN111": "GraphNode",
    "TN113": "Empty TreeNode field Ctx ModuleDef Module.make_rng Rngs.make_rng make_rng Conv:mask_fn "
    "ConvTranspose:mask_fn",
    "TN114": "Jit JIT Scan Vmap Remat",
    "TN115": "vmap:state_axes scan:state_axes pmap:state_axes vmap:split_rngs scan:split_rngs pmap:split_rngs",
    "TN116": "grad:wrt value_and_grad:wrt",
    "TN117": "jit:donate_state jit:constrain_state",
    "TN119": "Optimizer.model",
    "TN124": "fork ForkStates",
    "TN126": "MutableArray mutable_array mutable freeze use_refs",
    "TN129": "is_data_type",
    "TN135": "register_variable_name_type_pair",
    "TN136": "with_sharding_constraint",
}
GONE: Final = {
    code: [Older(*each.split(":")) for each in names.split()] for code, names in _GONE.items()
}
"""The same of what the runtimes do not have any more, which type checkers report themselves."""

_HEAD: Final = """\
import jax
import optax
from flax import nnx

class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.linear = nnx.Linear(2, 3, rngs=rngs)
    def __call__(self, x):
        return self.linear(x)

rngs = nnx.Rngs(0)
model = Model(rngs)
state = nnx.state(model)
variable = nnx.Param(jax.numpy.ones(3))
optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

"""
_OBJECTS: Final = {
    "GraphDef": "nnx.graphdef(model)",
    "Model": "Model",
    "Module": "model",
    "ModuleDef": "static",
    "Optimizer": "optimizer",
    "RngStream": "rngs.params",
    "Rngs": "rngs",
    "State": "state",
    "Variable": "variable",
}
_PROPERTIES: Final = frozenset(
    {"Optimizer.model", "Variable.raw_value", "Variable.sharding_names", "Variable.value"}
)
_OF_THE_CLASS: Final = frozenset(
    {"Module.create_abstract", "Module.init", "Module.partial_init", "State.from_flat_path"}
)
# The arguments of methods; none for others.
_OF_METHODS: Final = {
    "GraphDef.merge": "state",
    "Module.create_abstract": "rngs=rngs",
    "Module.extract": "nnx.Param",
    "Module.filter": "nnx.Param",
    "Module.init": "rngs=rngs",
    "Module.make_rng": '"params"',
    "Module.partial_init": "state)(rngs=rngs",
    "Module.update": "state",
    "Module.update_state": "state",
    "ModuleDef.merge": "state",
    "Rngs.make_rng": '"params"',
    "State.filter": "nnx.Param",
    "State.from_flat_path": "{}",
    "State.map": "lambda path, leaf: leaf",
    "State.merge": "state",
    "State.replace_by_pure_dict": "{}",
    "State.split": "nnx.Param, ...",
}
# The arguments of functions and classes that take an older keyword.
_OF_CALLS: Final = {
    **dict.fromkeys(CELLS, "2, 3, rngs=rngs"),
    **dict.fromkeys(VARIABLES, "x"),
    "Conv": "2, 3, (3,), rngs=rngs",
    "ConvTranspose": "2, 3, (3,), rngs=rngs",
    "fork_rngs": "model",
    "with_metadata": "nnx.initializers.ones_init()",
}
_OF_KEYWORDS: Final = {
    **dict.fromkeys(HOOKS, "print"),
    "constrain_state": "True",
    "donate_state": "True",
    "keep_rngs": "True",
    "mask_fn": "print",
    "mutable": "True",
    "sharding": '("a",)',
    "sharding_names": '("a",)',
    "split": "2",
    "split_rngs": "True",
    "state_axes": "{nnx.Param: 0}",
    "use_ref": "True",
    "wrt": "nnx.Param",
}


# Functions that have a meaning only where they are called.
_CALLED: Final = frozenset({"field"})


def program_of(spellings: Sequence[Older]) -> tuple[str, dict[int, Older]]:
    """Return a program that has some older spellings, and the line of each."""
    text = _HEAD
    lines: dict[int, Older] = {}
    for number, spelling in enumerate(spellings):
        text += f"def older_{number}(static: nnx.ModuleDef, x):\n"
        lines[text.count("\n") + 1] = spelling
        text += f"    return {_expression(spelling)}\n\n"
    return text, lines


def _expression(spelling: Older) -> str:
    owner, _, member = spelling.name.rpartition(".")
    if spelling.name in _PROPERTIES:
        return f"{_OBJECTS[owner]}.{member}"
    name = f"nnx.{spelling.name}"
    if owner:
        name = f"{_OBJECTS[owner]}.{member}"
    if spelling.name in _OF_THE_CLASS:
        name = f"Model.{member}" if owner == "Module" else f"nnx.State.{member}"
    if spelling.keyword:
        arguments = "" if owner else f"{_OF_CALLS.get(spelling.name, 'Model.__call__')}, "
        return f"{name}({arguments}{spelling.keyword}={_OF_KEYWORDS[spelling.keyword]})"
    is_called = bool(owner) or spelling.name in _CALLED
    return f"{name}({_OF_METHODS.get(spelling.name, '')})" if is_called else name
