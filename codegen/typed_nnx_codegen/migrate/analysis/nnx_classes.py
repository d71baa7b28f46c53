"""The classes of NNX: their bases, the attributes of their objects and what methods give.

Older names are here too, with what programs of that time found in their objects. A test makes
objects of both runtimes and compares.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import EVERY_OTHER, NnxClass
from typed_nnx_codegen.migrate.analysis.nnx_containers import CONTAINERS
from typed_nnx_codegen.migrate.analysis.nnx_functions import FUNCTIONS as FUNCTIONS
from typed_nnx_codegen.migrate.analysis.nnx_layers import LAYERS
from typed_nnx_codegen.migrate.analysis.nnx_variables import RANDOM, VARIABLES

_PYTREE: Final = ("Pytree",)
_VARIABLE: Final = ("Variable",)
_OPTIMIZER: Final = {
    "graph": "bool | None",
    "step": "OptState",
    "tx": "unknown",
    # A tuple of optax; its leaves are OptArrays and OptVariables.
    "opt_state": "unknown",
    "wrt": "unknown",
}
_METRIC: Final = ("Metric",)
_TRAINING: Final = {
    # Before flax 0.11 an Optimizer had the model too.
    "Optimizer": NnxClass(_PYTREE, {**_OPTIMIZER, "model": "Module"}, {"update": "State"}),
    "ModelAndOptimizer": NnxClass(("Optimizer",), {"model": "Module"}),
    "EMA": NnxClass(
        _PYTREE,
        {"graph": "bool | None", "decay": "float", "filter": "unknown", "params": "State"},
        {"apply_to": "arg0", "update": "None"},
    ),
    "TrainState": NnxClass(
        (),
        {
            "graphdef": "GraphDef",
            "params": "State",
            "opt_state": "unknown",
            "step": "array",
            "tx": "unknown",
        },
        {"apply": "callable", "apply_gradients": "self", "create": "self", "replace": "self"},
    ),
    "Metric": NnxClass(
        _PYTREE, {}, {"compute": "unknown", "reset": "None", "split": "special", "update": "None"}
    ),
    "Average": NnxClass(
        _METRIC,
        {"argname": "str", "total": "MetricState", "count": "MetricState"},
        {"compute": "array"},
    ),
    "Accuracy": NnxClass(("Average",), {"threshold": "float | None"}),
    "Welford": NnxClass(
        _METRIC,
        {
            "argname": "str",
            "count": "MetricState",
            "mean": "MetricState",
            "m2": "MetricState",
        },
        {"compute": "unknown"},
    ),
    "MultiMetric": NnxClass(_METRIC, {EVERY_OTHER: "Metric"}, {"compute": "dict[str, unknown]"}),
}

_BRIDGE: Final = {
    "bridge.Module": NnxClass(
        ("Module",),
        {EVERY_OTHER: "unknown", "scope": "unknown", "attr_priorities": "dict[str, unknown]"},
        {
            "apply": "unknown",
            "init": "dict[str, unknown]",
            "init_with_output": "tuple[unknown, dict[str, unknown]]",
            "is_initializing": "bool",
            "param": "Param",
            "variable": "Variable",
        },
    ),
    "ToNNX": NnxClass(
        ("Module",),
        {
            EVERY_OTHER: "unknown",
            "to_nnx__module": "unknown",
            "to_nnx__rngs": "Rngs | None",
            "module": "unknown",
            "rngs": "Rngs | None",
        },
        {"__call__": "unknown", "lazy_init": "self"},
    ),
}

# Attributes and keywords that flax 0.8 to 0.12 spell in different ways. The new side was checked on
# 0.12.8; the old side is what older programs use, and was not run:
#
# - layers: `kernel_init`, `bias_init`, `scale_init`, `embedding_init` and `recurrent_kernel_init`
#   are arguments still, and attributes no more;
# - `Dropout.rngs`, `MultiHeadAttention.rngs`, `RNN.rngs`: Rngs once, now a RngStream or None;
# - `Variable`: metadata are attributes; `sharding`, then `sharding_names`, now `out_sharding`;
#   `copy_from_state` is `update_from_state`; `replace(raw_value=)` is `replace(value)`;
# - `Optimizer`: `model` is gone but in `ModelAndOptimizer`, `wrt` is required, `update` takes the
#   model first; `opt_state` was a State and is a tuple of optax;
# - `State.flat_state()`: a dict by path once, now a FlatState: pairs of path and value;
# - `GraphDef`: `type`, `index`, `subgraphs` and `index_mapping` are gone;
# - `Module.iter_children` yielded Modules once, now all children: `nnx.iter_module_children`;
# - `Conv(mask_fn=)` is `mask=`; `Rngs.fork(split=)` is `split`; cells: `keep_rngs=`.
_OLDER: Final = {
    "ArrayRef": NnxClass((), {}, {"__getitem__": "array"}),
    "Ctx": NnxClass((), {}, {"make_rng": "array"}),
    "Empty": NnxClass(),
    "GraphNode": NnxClass(_PYTREE),
    "ModuleDef": NnxClass(("GraphDef",)),
    "ModuleList": NnxClass(("List",)),
    "MutableArray": NnxClass(("ArrayRef",)),
    "Sequence": NnxClass(("List",), {}, {"__call__": "unknown"}),
    "TreeNode": NnxClass(_VARIABLE),
    "VariableState": NnxClass(_VARIABLE),
    **dict.fromkeys(("JIT", "Jit", "Remat", "Scan", "Vmap"), NnxClass(("Module",))),
}

CLASSES: Final[Mapping[str, NnxClass]] = {
    **CONTAINERS,
    **VARIABLES,
    **RANDOM,
    **LAYERS,
    **_TRAINING,
    **_BRIDGE,
    **_OLDER,
}
"""The classes by their last name (``Average``), and ``bridge.Module``."""


def mro(name: str) -> tuple[str, ...]:
    """Return a class of the table and the classes above it, nearest first; itself if unknown."""
    nearest: tuple[str, ...] = (name,)
    found: dict[str, None] = {}
    while nearest:
        found.update(dict.fromkeys(nearest))
        known = [CLASSES[each] for each in nearest if each in CLASSES]
        nearest = tuple(base for each in known for base in each.bases)
    return tuple(found)


def known_class(name: str) -> NnxClass | None:
    """Return a class of the tables by its key; None if there is none."""
    return CLASSES.get(name)


def is_subclass(name: str, base: str) -> bool:
    """Whether a class of the table is another one or is below it."""
    return base in mro(name)


def attribute_type(name: str, attribute: str) -> str | None:
    """Return the type of an attribute of the objects of a class; None where it has none."""
    classes = [CLASSES[above] for above in mro(name) if above in CLASSES]
    for key in (attribute, EVERY_OTHER):
        for each in classes:
            if key in each.attributes:
                return each.attributes[key]
            if key in each.methods:
                return None
    return None


def method_result(name: str, method: str) -> str | None:
    """Return what a method of the objects of a class gives; None where it has no such method."""
    for above in mro(name):
        if above in CLASSES and method in CLASSES[above].methods:
            return CLASSES[above].methods[method]
    return None


def class_of(public: str) -> str | None:
    """Return the key of `CLASSES` for a public name such as ``nn.linear.Linear``; None if none."""
    first, _, rest = public.partition(".")
    last = public.rpartition(".")[2]
    if first == "bridge" and rest and last == "Module":
        return "bridge.Module"
    return last if last in CLASSES else None


def function_result(public: str) -> str | None:
    """Return what a function gives, by a public name such as ``nn.activations.relu``; or None."""
    dotted = public.removeprefix("nn.")
    return FUNCTIONS.get(dotted) or FUNCTIONS.get(dotted.rpartition(".")[2])
