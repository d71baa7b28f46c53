"""Uses of Linen by callers that nothing rewrites: they get a marker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import dotted
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, Instance
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.constructions import Constructions
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.layers.convolution import ConvLayer
from typed_nnx_codegen.migrate.linen.layers.dense import DenseLayer
from typed_nnx_codegen.migrate.linen.layers.normalization import NormLayer
from typed_nnx_codegen.migrate.linen.marker_codes import CALLER
from typed_nnx_codegen.migrate.linen.modules.classes import LINEN, public_linen
from typed_nnx_codegen.migrate.linen.names.linen_names import nnx_name
from typed_nnx_codegen.migrate.linen.names.written_names import written_name
from typed_nnx_codegen.migrate.linen.plan import Mark
from typed_nnx_codegen.migrate.linen.staying.bridge_uses import code_in_bridges

# What only modules of Linen have, and how many arguments it takes at least.
_METHODS: Final = {"init": 2, "init_with_output": 2, "apply": 2, "bind": 1}
_QUESTIONS: Final = ("isinstance", "issubclass")
# Functions whose arguments are of another form in NNX.
_OTHERS: Final = frozenset(
    {
        *("apply", "init", "init_with_output", "tabulate", "summary", "logical_to_mesh"),
        *("get_partition_spec", "get_sharding", "logical_to_mesh_sharding", "unbox"),
        *("Partitioned", "LogicallyPartitioned", "meta", "spmd", "enable_named_call"),
    }
)


def mark_leftovers(file: File, constructions: Constructions, plan: CallerPlan) -> None:
    """Mark what callers do with Linen that is not migrated."""
    places = constructions.places(file.analysis)
    done = set(plan.code) | code_in_bridges(file.analysis)
    plan.marks += _classes_in_tables(file, constructions)
    for call in file.analysis.nodes.of(cst.Call):
        if call not in places or call in done:
            continue
        if any(one in done for one in places.around(call)):
            held = "" if call in code_in_bridges(file.analysis) else _held_layer(call, file)
            if held:
                plan.marks.append(Mark(constructions.remaining(call), held, CALLER))
            continue
        message = _unknown_model(call, file, constructions)
        if not message and call not in constructions.planned:
            message = _layer(call, file)
        message = message or _given_layer(call, file)
        if message:
            plan.marks.append(Mark(constructions.remaining(call), message, CALLER))


def _classes_in_tables(file: File, constructions: Constructions) -> Iterator[Mark]:
    """Yield marks for modules in lists and tables, which something constructs later."""
    places = constructions.places(file.analysis)
    for node in (*file.analysis.nodes.of(cst.DictElement), *file.analysis.nodes.of(cst.Element)):
        if node not in places or node.value in constructions.planned:
            continue
        if not constructions.is_module_class(file.analysis.values.get(node.value, UNKNOWN)):
            continue
        calls = (one.func for one in places.around(node) if isinstance(one, cst.Call))
        if not any(dotted(func) in _QUESTIONS for func in calls):
            name = dotted(node.value)
            message = (
                f"`{name}` is constructed by what takes it from here: NNX needs sizes and `rngs`"
            )
            yield Mark(node.value, message, CALLER)


def _unknown_model(call: cst.Call, file: File, constructions: Constructions) -> str:
    """Return what to say of `init` or `apply` of something that may be a module."""
    if not isinstance(call.func, cst.Attribute):
        return ""
    name = call.func.attr.value
    if name not in _METHODS or len(call.args) < _METHODS[name]:
        return ""
    value = file.analysis.values.get(call.func.value, UNKNOWN)
    is_any = isinstance(value, Instance) and value.cls == f"{LINEN}.Module"
    if not (value == UNKNOWN or is_any) or call.func in constructions.uses:
        return ""
    first = call.args[0].value
    looks_like = name == "init" and _is_key(call.args[0], file)
    looks_like = looks_like or name == "init_with_output"
    looks_like = looks_like or (name in ("apply", "bind") and _is_variables(first))
    if not looks_like:
        return ""
    receiver = dotted(call.func.value) or "it"
    return f"`{receiver}` may be a module: `{name}` is of Linen"


def _is_key(arg: cst.Arg, file: File) -> bool:
    text = dotted(arg.value)
    if any(word in text.lower() for word in ("rng", "key", "seed")):
        return True
    if isinstance(arg.value, cst.Dict):
        return True
    if isinstance(arg.value, cst.Call):
        return file.name(arg.value.func).startswith("jax.random.")
    return False


def _is_variables(node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Dict):
        keys = [one.key for one in node.elements if isinstance(one, cst.DictElement)]
        return any(isinstance(key, cst.SimpleString) for key in keys)
    return any(word in dotted(node).lower() for word in ("param", "variables"))


def _held_layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer in what is written anew: its sizes are not."""
    value = file.analysis.values.get(call.func, UNKNOWN)
    public = public_linen(value.name) if isinstance(value, External) else ""
    layer = find_layer(public) if public else None
    is_whole = (
        layer is None or not layer.nnx or not isinstance(layer, DenseLayer | ConvLayer | NormLayer)
    )
    return "" if is_whole else _layer(call, file)


def _given_layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer that NNX does not have, where callers pass it on."""
    for arg in call.args:
        value = file.analysis.values.get(arg.value, UNKNOWN)
        public = public_linen(value.name) if isinstance(value, External) else ""
        if public and find_layer(public) is not None and not written_name(public):
            return f"`{public.rpartition('.')[2]}` is a class of Linen that NNX does not have"
    return ""


def _layer(call: cst.Call, file: File) -> str:
    """Return what to say of a layer or function of Linen that callers use by themselves."""
    value = file.analysis.values.get(call.func, UNKNOWN)
    if not isinstance(value, External):
        return ""
    public = public_linen(value.name)
    if not public.startswith(f"{LINEN}."):
        return ""
    name = public.removeprefix(f"{LINEN}.")
    if find_layer(public) is not None:
        return f"`{name}` is constructed outside of a module: NNX needs the sizes of its inputs"
    if name.partition(".")[0] in _OTHERS or not nnx_name(public):
        return f"`{name}` of Linen works on other values in NNX"
    return ""
