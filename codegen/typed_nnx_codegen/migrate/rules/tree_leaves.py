"""TN139: ``jax.tree`` functions over Modules say with ``is_leaf=`` what a leaf is."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, nnx_name
from typed_nnx_codegen.migrate.analysis.nnx_classes import is_subclass
from typed_nnx_codegen.migrate.analysis.syntax import descendants, has_star
from typed_nnx_codegen.migrate.analysis.values import (
    Collection,
    External,
    ProjectFunction,
    Value,
    join,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.patterns.transform_calls import keyword_of, with_keyword
from typed_nnx_codegen.migrate.registry import Rule, register

_MOVED: Final = {
    f"jax.tree_{name}": f"jax.tree.{name}"
    for name in (
        *("all", "flatten", "leaves", "map", "reduce", "structure", "transpose", "unflatten"),
    )
}
_NAMES: Final = frozenset(name.removeprefix("jax.") for name in _MOVED)
# Functions that map, with the parameter of their function that gets the leaves of the first tree.
_MAPS: Final = {
    "jax.tree_map": 0,
    "jax.tree.map": 0,
    "jax.tree.map_with_path": 1,
    "jax.tree_util.tree_map": 0,
    "jax.tree_util.tree_map_with_path": 1,
}
_LISTS: Final = frozenset(
    {
        *("jax.tree_leaves", "jax.tree_flatten", "jax.tree.leaves", "jax.tree.flatten"),
        *("jax.tree_util.tree_leaves", "jax.tree_util.tree_flatten"),
    }
)
_OF_VARIABLES: Final = frozenset(
    {"copy_from", "get_metadata", "get_raw_value", "get_value", "raw_value", "replace"}
    | {"set_metadata", "set_value", "type", "update_from_state", "value"}
)
_OF_MODULES: Final = frozenset({"nnx.graphdef", "nnx.split", "nnx.state", "nnx.update"})
_MESSAGE: Final = (
    "Modules are trees since flax 0.12: the leaves here are their arrays; add "
    "is_leaf=lambda x: isinstance(x, nnx.Module) if they are to be the Modules"
)


@register
class TreeLeaves(Rule):
    """The leaves of a State or a Module are arrays, even if a mapped function expects Variables.

    Variables and Modules used to be leaves. If the mapped function reads an attribute of a
    Variable, tests for a Variable class, or calls its argument, the rule makes these the leaves
    with `is_leaf=`. If containers of Modules are flattened and the intent is unclear, it leaves a
    marker. ``jax.tree_map`` and the like, which jax has removed, become ``jax.tree.map`` in files
    that use NNX.
    """

    code = "TN139"
    title = "`jax.tree` functions over Modules say with `is_leaf=` what a leaf is"
    since = (0, 12, 0)
    example = """\
  import jax
- from flax import nnx
+ import typed_nnx as nnx

  def shapes(m: nnx.Module):
-     return jax.tree.map(lambda v: v.get_value().shape, nnx.state(m))
+     return jax.tree.map(lambda v: v.get_value().shape, nnx.state(m), is_leaf=lambda x: isinstance(x, nnx.Variable))
"""

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Say what the leaves are."""
        name = self.file.name(original.func)
        if name not in _MAPS and name not in _LISTS:
            return updated
        values = [self.file.value(arg.value) for arg in original.args]
        if has_star(original) or keyword_of(original, "is_leaf") is not None or not values:
            return updated
        if name in _MAPS and len(values) > 1:
            return self._map(original, updated, _MAPS[name], values[1])
        if name in _LISTS and _holds_modules(values[0]) and len(values) == 1:
            self.file.decide(original, _MESSAGE)
        return updated

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite ``jax.tree_map``, called or not."""
        new = _MOVED.get(self.file.name(original)) if original.attr.value in _NAMES else None
        return self.file.refer(new) if new is not None else updated

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """Rewrite a name that is imported from jax and that jax has no more."""
        new = _MOVED.get(self.file.name(original))
        return self.file.refer(new) if new is not None else updated

    def _map(
        self, original: cst.Call, updated: cst.Call, position: int, tree: Value
    ) -> cst.BaseExpression:
        leaf = self._leaf(original, position)
        is_sure = _is_of_nnx(tree)
        if leaf == "type" or (leaf == "Variable" and is_sure):
            return self._with_leaf(updated, "nnx.Variable")
        if not _holds_modules(tree):
            return updated
        if leaf == "Module":
            return self._with_leaf(updated, "nnx.Module")
        if not self.file.name(original.args[0].value).startswith(("jax.", "numpy.")):
            self.file.decide(original, _MESSAGE)
        return updated

    def _with_leaf(self, call: cst.Call, leaf: str) -> cst.Call:
        name = cst.Name("x")
        test = cst.Call(
            cst.Name("isinstance"),
            [
                cst.Arg(name, comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))),
                cst.Arg(self.file.refer(leaf)),
            ],
        )
        parameters = cst.Parameters([cst.Param(name)])
        return with_keyword(call, "is_leaf", cst.Lambda(parameters, test))

    # -- what the function expects ------------------------------------------------------------

    def _leaf(self, call: cst.Call, position: int) -> str:
        """Return what a mapped function takes: ``Variable``, ``Module``, or nothing known.

        ``type`` stands for a Variable that the function asks for by its class.
        """
        value = self.file.value(call.args[0].value)
        if not isinstance(value, ProjectFunction):
            return ""
        parameters = value.node.params
        names = [one.name.value for one in (*parameters.posonly_params, *parameters.params)]
        names = names[1:] if value.owner is not None else names
        if len(names) <= position:
            return ""
        found = [self._said_by(node, names[position]) for node in descendants(value.node.body)]
        return max(found, key=("", "Module", "Variable", "type").index, default="")

    def _said_by(self, node: cst.CSTNode, name: str) -> str:
        match node:
            case cst.Attribute(value=cst.Name(value=of), attr=cst.Name(value=attribute)):
                return "Variable" if of == name and attribute in _OF_VARIABLES else ""
            case cst.Call(func=cst.Name(value=of)) if of == name:
                return "Module"
            case cst.Call(args=[cst.Arg(value=cst.Name(value=of)), *rest]) if of == name:
                if self.file.name(node.func) in _OF_MODULES:
                    return "Module"
                is_test = self.file.name(node.func) == "builtins.isinstance"
                return self._class(rest[0].value) if is_test and len(rest) == 1 else ""
            case _:
                return ""

    def _class(self, node: cst.BaseExpression) -> str:
        for option in options_of(self.file.value(node)):
            options = option.items or () if isinstance(option, Collection) else (option,)
            for cls in options:
                found = nnx_name(cls) if isinstance(cls, External) else ""
                if found and is_subclass(found, "Variable"):
                    return "type"
                if found and is_subclass(found, "Module"):
                    return "Module"
        return ""


def _is_of_nnx(value: Value) -> bool:
    """Whether a value is surely a State, a Module, or a container of them."""
    value = without_none(value)
    if isinstance(value, Collection):
        items = value.items if value.items is not None else (value.element,)
        return bool(items) and any(_is_of_nnx(item) for item in items)
    return derives(value, "State", "Pytree", "Module") is True


def _holds_modules(value: Value) -> bool:
    """Whether a value is surely a container of Modules, of Python or of NNX."""
    value = without_none(value)
    if isinstance(value, Collection):
        items = value.items if value.items is not None else (join(value.element),)
        return any(derives(item, "Module", "Pytree") is True for item in items)
    return False
