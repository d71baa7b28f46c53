"""Modules as such, containers of them, and what `split` takes them apart into."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis.nnx_class import EVERY_OTHER, NnxClass

_PYTREE: Final = ("Pytree",)
_LEAF: Final = "State | Variable"
_PATH: Final = "tuple[unknown, ...]"

CONTAINERS: Final = {
    "Pytree": NnxClass(),
    "Object": NnxClass(_PYTREE),
    "Module": NnxClass(
        _PYTREE,
        {},
        {
            "eval": "None",
            # Children of all kinds, Variables too.
            "iter_children": "list[tuple[unknown, unknown]]",
            "iter_modules": f"list[tuple[{_PATH}, Module]]",
            "perturb": "array",
            "set_attributes": "None",
            "sow": "bool",
            "train": "None",
            # Before flax 0.11; until 0.8.2 all of them.
            "apply": "callable",
            "clone": "self",
            "create_abstract": "self",
            "extract": "special",
            "filter": "special",
            "get_graphdef": "GraphDef",
            "get_state": "State",
            "init": "special",
            "modules": "list[tuple[str, Module]]",
            "make_rng": "array",
            "partial_init": "special",
            "pop": "special",
            "split": "special",
            "update": "None",
            "update_state": "None",
        },
    ),
    "Sequential": NnxClass(
        ("Module",),
        {"layers": "List"},
        {"__call__": "unknown", "__getitem__": "unknown", "__iter__": "list[unknown]"},
    ),
    "List": NnxClass(
        ("Module",),
        {},
        {
            "__getitem__": "unknown",
            "__iter__": "list[unknown]",
            "append": "None",
            "clear": "None",
            "copy": "self",
            "count": "int",
            "extend": "None",
            "index": "int",
            "insert": "None",
            "pop": "unknown",
            "remove": "None",
            "reverse": "None",
            "sort": "None",
        },
    ),
    "Dict": NnxClass(
        ("Module",),
        {EVERY_OTHER: "unknown"},
        {
            "__getitem__": "unknown",
            "__iter__": "list[str]",
            "clear": "None",
            "copy": "self",
            "get": "unknown",
            "items": "list[tuple[str, unknown]]",
            "keys": "list[str]",
            "pop": "unknown",
            "popitem": "tuple[str, unknown]",
            "setdefault": "unknown",
            "update": "None",
            "values": "list[unknown]",
        },
    ),
    "GraphDef": NnxClass(
        (),
        {"attributes": "unknown", "nodes": "unknown", "num_leaves": "int"},
        # A call of what `apply` gives returns the result and (graphdef, state).
        {"apply": "callable", "merge": "special", "init": "special"},
    ),
    "State": NnxClass(
        (),
        {EVERY_OTHER: _LEAF, "raw_mapping": "dict[unknown, unknown]"},
        {
            "__getitem__": _LEAF,
            "__iter__": "list[unknown]",
            "__or__": "State",
            "__sub__": "State",
            "clear": "None",
            "filter": "special",
            "flat_state": "FlatState",
            "from_flat_path": "State",
            "get": f"{_LEAF} | None",
            "items": f"list[tuple[unknown, {_LEAF}]]",
            "keys": "list[unknown]",
            "map": "State",
            "merge": "State",
            "pop": _LEAF,
            "popitem": f"tuple[unknown, {_LEAF}]",
            "replace_by_pure_dict": "None",
            "setdefault": _LEAF,
            "split": "special",
            "to_pure_dict": "dict[unknown, unknown]",
            "update": "None",
            "values": f"list[{_LEAF}]",
        },
    ),
    "FlatState": NnxClass(
        (),
        {"leaves": "list[Variable]", "paths": f"tuple[{_PATH}, ...]"},
        {
            # By position; a flat state of older versions was a dict by path.
            "__getitem__": "unknown",
            "__iter__": f"list[tuple[{_PATH}, Variable]]",
            "count": "int",
            "filter": "special",
            "from_sorted_keys_values": "FlatState",
            "index": "int",
            "items": f"list[tuple[{_PATH}, Variable]]",
            "keys": f"list[{_PATH}]",
            "merge": "FlatState",
            "split": "special",
            "to_nested_state": "State | dict[unknown, unknown]",
            "values": "list[Variable]",
        },
    ),
    "GraphState": NnxClass(
        (),
        {},
        {
            "__getitem__": _LEAF,
            "__iter__": "list[unknown]",
            "get": f"{_LEAF} | None",
            "items": f"list[tuple[unknown, {_LEAF}]]",
            "keys": "list[unknown]",
            "values": f"list[{_LEAF}]",
        },
    ),
    "StateAxes": NnxClass((), {"axes": "unknown", "filters": "unknown"}),
    "StateSharding": NnxClass((), {"shardings": "unknown", "filters": "unknown"}),
    "DiffState": NnxClass((), {"argnum": "int", "filter": "unknown"}),
}
"""Modules, containers, graphdefs and States by name."""
