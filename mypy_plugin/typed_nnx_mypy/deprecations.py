"""Older spellings of NNX and what to write instead, by the numbers of the codemod's rules.

The order is that of the rules. Names are public names as in `names.py`: ``split`` for a function or
a class, ``Module.split`` for a method or an attribute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True)
class Spelling:
    """An older spelling.

    Attributes:
        name: What is old; with a keyword, the function or class that takes it.
        write: What to write instead.
        keyword: The keyword argument, where only that is old.
        is_gone: Whether the runtimes do not have it any more, so that type checkers report it.
    """

    name: str
    write: str
    keyword: str = ""
    is_gone: bool = False


@dataclass(frozen=True)
class Rule:
    """A rule of the codemod.

    Attributes:
        code: Its number.
        title: What it does.
        spellings: What it rewrites, where that has a name; rules of other forms have none.
    """

    code: str
    title: str
    spellings: tuple[Spelling, ...] = ()


VARIABLES: Final = (
    "Variable",
    "Param",
    "BatchStat",
    "Cache",
    "Intermediate",
    "Perturbation",
)
CELLS: Final = ("GRUCell", "LSTMCell", "OptimizedLSTMCell", "SimpleCell")
HOOKS: Final = (
    "on_add_axis",
    "on_create_value",
    "on_get_value",
    "on_remove_axis",
    "on_set_value",
)


def _gone(write: str, *names: str) -> tuple[Spelling, ...]:
    return tuple(Spelling(name, write, is_gone=True) for name in names)


def _gone_keywords(write: str, keyword: str, *names: str) -> tuple[Spelling, ...]:
    return tuple(Spelling(name, write, keyword, is_gone=True) for name in names)


def _keywords(write: str, keyword: str, *names: str) -> tuple[Spelling, ...]:
    return tuple(Spelling(name, write, keyword) for name in names)


RULES: Final = (
    Rule("TN101", "`flax.experimental.nnx` and `flax.nnx` are imported from the target"),
    Rule(
        "TN102",
        "`state, static = m.split(...)` is `graphdef, state = nnx.split(m, ...)`",
        _gone("nnx.split(m, ...), which returns the graphdef first", "Module.split"),
    ),
    Rule(
        "TN103",
        "`nnx.VariableState` is `nnx.Variable`",
        (Spelling("VariableState", "nnx.Variable"),),
    ),
    Rule(
        "TN104",
        "`static.merge(state)` is `nnx.merge(graphdef, state)`",
        _gone("nnx.merge(graphdef, state)", "ModuleDef.merge", "GraphDef.merge"),
    ),
    Rule(
        "TN105",
        "`m.get_state()` and `m.extract(F)` are `nnx.state(m, F)`",
        _gone("nnx.state(m, F)", "Module.get_state", "Module.extract", "Module.filter"),
    ),
    Rule(
        "TN106",
        "`m.update(state)` is `nnx.update(m, state)`",
        _gone("nnx.update(m, state)", "Module.update", "Module.update_state"),
    ),
    Rule("TN107", "`m.clone()` is `nnx.clone(m)`", _gone("nnx.clone(m)", "Module.clone")),
    Rule(
        "TN108",
        "`M.init`, `M.create_abstract` and `M.partial_init` are calls of M under a transform",
        (
            *_gone("M(..., rngs=rngs)", "Module.init"),
            *_gone("nnx.eval_shape(lambda: M(...))", "Module.create_abstract"),
            *_gone("nnx.jit(lambda: M(...))()", "Module.partial_init"),
        ),
    ),
    Rule(
        "TN109",
        "`nnx.Sequence` is `nnx.List`, or `nnx.Sequential` where it is called",
        _gone("nnx.List(layers), or nnx.Sequential(*layers)", "Sequence", "ModuleList"),
    ),
    Rule("TN110", "A plain container of Modules or arrays is `nnx.List`, `nnx.Dict` or marked"),
    Rule(
        "TN111",
        "`nnx.GraphNode` and `nnx.Object` are `nnx.Pytree`",
        _gone("nnx.Pytree", "GraphNode"),
    ),
    Rule(
        "TN112",
        "`nnx.ModuleDef` is `nnx.GraphDef`",
        _gone("nnx.GraphDef", "ModuleDef"),
    ),
    Rule(
        "TN113",
        "`nnx.Empty`, `nnx.TreeNode`, `nnx.field` and `nnx.Ctx` have no direct successor",
        (
            *_gone("nnx.State({})", "Empty"),
            *_gone("nnx.Variable(tree)", "TreeNode"),
            *_gone("nnx.data() or nnx.static()", "field"),
            *_gone("nnx.Rngs and the attributes of the Module", "Ctx"),
        ),
    ),
    Rule(
        "TN114",
        "The classes of transforms are functions",
        (
            *_gone("nnx.jit", "Jit", "JIT"),
            *_gone("nnx.scan", "Scan"),
            *_gone("nnx.vmap", "Vmap"),
            *_gone("nnx.remat", "Remat"),
        ),
    ),
    Rule(
        "TN115",
        "`state_axes=` and `split_rngs=` are `nnx.StateAxes` and `@nnx.split_rngs`",
        (
            *_gone_keywords("in_axes=nnx.StateAxes({...})", "state_axes", "vmap", "scan", "pmap"),
            *_gone_keywords("@nnx.split_rngs(splits=n)", "split_rngs", "vmap", "scan", "pmap"),
        ),
    ),
    Rule(
        "TN116",
        "`grad(wrt=F)` is `grad(argnums=nnx.DiffState(0, F))`",
        _gone_keywords("argnums=nnx.DiffState(0, F)", "wrt", "grad", "value_and_grad"),
    ),
    Rule(
        "TN117",
        "`donate_state` and `constrain_state` are arguments of jit that jax knows",
        (
            *_gone_keywords("donate_argnums=0", "donate_state", "jit"),
            *_gone_keywords("in_shardings=nnx.StateSharding(...)", "constrain_state", "jit"),
        ),
    ),
    Rule("TN118", "`nnx.Optimizer(m, tx)` is `nnx.Optimizer(m, tx, wrt=nnx.Param)`"),
    Rule(
        "TN119",
        "`opt.update(grads)` is `opt.update(model, grads)`, and `opt.model` is the model",
        _gone("the model that the optimizer was made of", "Optimizer.model"),
    ),
    Rule(
        "TN120",
        "`v.value` is `v[...]`",
        (Spelling("Variable.value", "v[...] where it is an array, v.get_value() otherwise"),),
    ),
    Rule(
        "TN121",
        "`v.raw_value` is `v.get_raw_value()`",
        (Spelling("Variable.raw_value", "v.get_raw_value(), or v.set_raw_value(x) to set it"),),
    ),
    Rule("TN122", "`rngs.fork(n)` is `rngs.split(n)`"),
    Rule(
        "TN123",
        "`rngs.fork(split=n)` is `rngs.split(n)`",
        (
            *_keywords("rngs.split(n)", "split", "Rngs.fork", "RngStream.fork"),
            *_keywords("nnx.split_rngs(node, splits=n)", "split", "fork_rngs"),
        ),
    ),
    Rule(
        "TN124",
        "`nnx.fork` and `nnx.ForkStates` are `nnx.split_rngs`",
        _gone("nnx.split_rngs(node, splits=n)", "fork", "ForkStates"),
    ),
    Rule(
        "TN125",
        "`make_rng(name)` is `rngs[name]()`",
        _gone("self.rngs[name]()", "Module.make_rng", "make_rng", "Rngs.make_rng"),
    ),
    Rule(
        "TN126",
        "Mutable arrays are array references",
        (
            *_gone("nnx.ArrayRef", "MutableArray"),
            *_gone("nnx.array_ref", "mutable_array"),
            *_gone("nnx.to_refs", "mutable"),
            *_gone("nnx.to_arrays", "freeze"),
            *_gone("nnx.Variable(x, ref=True)", "use_refs"),
        ),
    ),
    Rule(
        "TN127",
        "`Variable(use_ref=)` and `Variable(mutable=)` are `Variable(ref=)`",
        (
            *_keywords("ref=; `use_ref` is kept and does nothing", "use_ref", *VARIABLES),
            *_keywords("ref=; `mutable` is kept and does nothing", "mutable", *VARIABLES),
        ),
    ),
    Rule(
        "TN128",
        "`x: nnx.Data[T]` is `x: T = nnx.data()`",
        (
            Spelling("Data", "x: T = nnx.data()"),
            Spelling("Static", "x: T = nnx.static()"),
        ),
    ),
    Rule(
        "TN129",
        "`nnx.is_data_type` is `nnx.is_data`",
        _gone("nnx.is_data(value)", "is_data_type"),
    ),
    Rule(
        "TN130",
        "Methods of State are functions",
        (
            Spelling("State.flat_state", "nnx.to_flat_state(state)"),
            Spelling("State.from_flat_path", "nnx.from_flat_state(flat)"),
            Spelling("State.map", "nnx.map_state(f, state)"),
            Spelling("State.merge", "nnx.merge_state(state, *states)"),
            Spelling("State.filter", "nnx.filter_state(state, *filters)"),
            Spelling("State.split", "nnx.split_state(state, *filters)"),
            Spelling("State.to_pure_dict", "nnx.to_pure_dict(state)"),
            Spelling("State.replace_by_pure_dict", "nnx.replace_by_pure_dict(state, values)"),
        ),
    ),
    Rule(
        "TN131",
        "`sharding=` and `sharding_names` are `out_sharding`",
        (
            *_keywords("out_sharding=", "sharding", "with_metadata", *VARIABLES),
            *_keywords("out_sharding=", "sharding_names", "with_metadata", *VARIABLES),
            Spelling("Variable.sharding_names", "v.out_sharding"),
        ),
    ),
    Rule(
        "TN132",
        "`pure`, `vars_as` and `abstract_with_sharding` have new names",
        (
            Spelling("pure", "nnx.as_pure(tree)"),
            Spelling("vars_as", "nnx.with_vars(node, ...)"),
            Spelling("abstract_with_sharding", "nnx.as_abstract(tree)"),
        ),
    ),
    Rule("TN133", "`sow` and `perturb` store values inside `nnx.capture` only"),
    Rule(
        "TN134",
        "`m.iter_modules()` and `m.iter_children()` are functions",
        (
            Spelling("Module.iter_modules", "nnx.iter_modules(m)"),
            Spelling("Module.iter_children", "nnx.iter_children(m)"),
        ),
    ),
    Rule(
        "TN135",
        "`nnx.register_variable_name_type_pair` is `nnx.register_variable_name`",
        _gone("nnx.register_variable_name(name, type)", "register_variable_name_type_pair"),
    ),
    Rule(
        "TN136",
        "`nnx.with_sharding_constraint` is the function of jax",
        _gone("jax.lax.with_sharding_constraint(x, sharding)", "with_sharding_constraint"),
    ),
    Rule(
        "TN137",
        "The hooks of a Variable are methods of a Variable class",
        tuple(
            Spelling(name, "a Variable class of your own with get_value or set_value", hook)
            for hook in HOOKS
            for name in VARIABLES
        ),
    ),
    Rule(
        "TN138",
        "`Conv(mask_fn=)` is `Conv(mask=)`",
        _gone_keywords("mask=mask_fn(...)", "mask_fn", "Conv", "ConvTranspose"),
    ),
    Rule("TN139", "`jax.tree` functions over Modules say with `is_leaf=` what a leaf is"),
    Rule(
        "TN140",
        "`keep_rngs=` of recurrent cells is the `rngs` of `nnx.RNN`",
        _keywords("nnx.RNN(cell, rngs=rngs)", "keep_rngs", *CELLS),
    ),
)
"""The rules, in the order in which the codemod applies them."""
