"""What flax.nnx has under a public name and we have not, or have otherwise, and why.

A pattern stands for the names below the package that it matches; one that matches no difference
fails the tests, so this list never outlives what it excuses.
"""

from __future__ import annotations

from fnmatch import fnmatchcase

_ENGINE = "a part of flax's graph engine, which ours has not: it keeps records of objects instead"
_PREFIXES = "how flax's transforms take arguments apart; no part of what a program calls"
_HIJAX = "the experimental Variables of flax's `hijax` mode, which are jax primitives there"
_TYPING = "a Protocol that annotations of flax name; nothing is ever made of it"
_PROXY = "the objects that flax's transforms return; ours have the same methods, and other parts"
_DISPLAY = "how flax builds text; ours is under `typed_nnx._core.display` and is not for import"

EXCEPTIONS: dict[str, str] = {
    # Whole modules.
    "deprecations": "marks flax's own names as deprecated",
    "extract": _PREFIXES + "; `to_tree`, `from_tree`, `prefix` and `NodeStates` are in the package",
    "ids": "numbers flax's objects",
    "proxy_caller": "what `nnx.call` and `GraphDef.apply` return, which is for calling only",
    "reprlib": _DISPLAY,
    "tracers": "tells flax which jax trace is running",
    # Parts of the graph engine.
    "GraphDef.__init__": _ENGINE + "; `split` and `graphdef` make one",
    "GraphDef.with_*_outer_index": _ENGINE,
    "GraphState.__init__": "the names of two private fields, which are passed by position",
    "UpdateContext.__init__": _ENGINE + "; `update_context` makes one",
    "UpdateContext.*flatten_end": _ENGINE + "; leaving a split or merge context does it",
    "SplitContext.__init__": _ENGINE + "; `split_context` makes one",
    "MergeContext.__init__": _ENGINE + "; `merge_context` makes one",
    "graphlib.IndexMap.from_refmap": _ENGINE,
    "graphlib.RefMap.*": _ENGINE + "; it starts empty",
    "graphlib.*PythonRefMap": _ENGINE,
    "graphlib.VariableDef.*": _ENGINE,
    "graphlib.*NodeImpl*": _ENGINE,
    "graphlib.NodeDef.*": _ENGINE,
    "graphlib.TreeNodeDef.*": _ENGINE,
    "graphlib.*_node_impl*": _ENGINE,
    "graphlib.NodeAttr": _ENGINE,
    "graphlib.LeafAttr": _ENGINE,
    "graphlib.ArrayRef*": _ENGINE,
    "graphlib.DataElem": _ENGINE,
    "graphlib.StaticElem": _ENGINE,
    "graphlib.Static": _ENGINE,
    "graphlib.NoUpdate": _ENGINE,
    "graphlib.Repeated": _ENGINE,
    "graphlib.StaticCache": _ENGINE,
    "graphlib.static_cache": _ENGINE,
    "graphlib.GraphContext": _ENGINE,
    "graphlib.graph_pop": _ENGINE + "; `pop` is the public function",
    "graphlib.GenericPytree": _ENGINE,
    "graphlib.IndexesPytreeDef": _ENGINE,
    "graphlib.is_node_leaf": _ENGINE,
    "graphlib.is_node_module": _ENGINE,
    "graphlib.is_node_type": _ENGINE,
    "graphlib.is_pytree_node": _ENGINE,
    "graphlib.register_*_node_type": "adds a kind of node to flax's engine; ours takes subclasses "
    "of `Pytree` and what `jax.tree_util` knows",
    "statelib.create_path_filters": _PREFIXES + "; `StateAxes(state)` does it",
    "pytreelib.ObjectContext": _ENGINE,
    "pytreelib.PytreeState": _ENGINE + "; no attribute of an object has it in flax either",
    "rnglib.SplitBackups.replace": "comes with flax.struct; there is one field to replace",
    # Objects behind transforms.
    "transforms.*Fn": _PROXY,
    "transforms.*Wrapper": _PROXY,
    "transforms.*CustomVjp": _PROXY,
    "transforms.*.Simple*Wrapped": _PROXY,
    "transforms.compilation.Simple*ed": _PROXY,
    "transforms.compilation.*.__init__": _PROXY + "; `jit`, `lower`, `compile` make them",
    "transforms.compilation.*.jit_wrapped": _PROXY,
    "transforms.compilation.Lowered.from_flat_info": _PROXY,
    "transforms.compilation.Traced.lower": "takes what `jax.export.export` adds; in flax that fails",
    "transforms.compilation.*.traced": _PROXY,
    "transforms.compilation.*.lowered": _PROXY,
    "transforms.compilation.*.compiled": _PROXY,
    "transforms.iteration.Broadcasted": _PREFIXES,
    "transforms.transforms.resolve_kwargs": _PREFIXES,
    "transforms.transforms.LiftedModule": "a base class that nothing in flax has as a base",
    "transforms.transforms.ValueMetadata": _PREFIXES,
    # Variables.
    "variablelib.*Hijax*": _HIJAX,
    "variablelib.AbstractVariable": _HIJAX,
    "variablelib.VariableQDD": _HIJAX,
    "variablelib.VariableEffect": _HIJAX,
    "variablelib.?etVariable": _HIJAX,
    "variablelib.NewVariable": _HIJAX,
    "variablelib.VariableMeta": "the metaclass that chooses between flax's two kinds of Variables",
    "variablelib.VariableContext": "holds flax's settings of a thread",
    "variablelib.VarDefaultsContext.__init__": "what to set back; `var_defaults` makes one",
    # For annotations only.
    "bridge.module.ModuleBase": _TYPING,
    "filterlib.HasTag": _TYPING,
    "helpers.ModuleDefApply": _TYPING,
    "rnglib.KeylessInitializer": _TYPING,
    # Text.
    "module.first_from": "flax's own choice between an argument and an attribute",
    "pytreelib.*Repr": _DISPLAY,
    "pytreelib.AttributeStatus": _ENGINE,
    "statelib.NestedStateRepr": _DISPLAY,
    "summary.NoneDumper": _DISPLAY,
    "summary.SizeBytes": _DISPLAY,
    "summary.ObjectInfo": _DISPLAY,
    "summary.SimpleObjectRepr": _DISPLAY,
    "summary.ArrayRepr.from_array": _DISPLAY,
    "visualization.render_object_constructor": _DISPLAY,
}


def patterns_for(name: str) -> list[str]:
    """Return the patterns that excuse a name: that match it or something that it is part of."""
    parts = name.split(".")
    wholes = [".".join(parts[:end]) for end in range(1, len(parts) + 1)]
    return [p for p in EXCEPTIONS if any(fnmatchcase(whole, p) for whole in wholes)]
