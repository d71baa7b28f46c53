"""TN120: ``v.value`` is ``v[...]``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, member_of
from typed_nnx_codegen.migrate.analysis.node_index import NodeIndex
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    is_repeatable,
    targets_of,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    UNKNOWN,
    Instance,
    OneOf,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.value_places import ALONE, LEFT, ValuePlaces
from typed_nnx_codegen.migrate.patterns.variable_access import (
    getter,
    method_of,
    operand,
    operator_of,
    setter,
    whole,
    whole_of,
)
from typed_nnx_codegen.migrate.registry import Rule, register

# Variables give these of what they hold.
_ABOUT: Final = frozenset({"dtype", "ndim", "shape", "size"})
_AssignResult = cst.BaseSmallStatement | cst.FlattenSentinel[cst.BaseSmallStatement]


@register
class ValueOfVariable(Rule):
    """Reads and writes the value of a Variable as `v[...]`, or with `get_value` and `set_value`.

    `v[...]` is for arrays, and `v[...] = x` keeps the shape and dtype of the array. So a Variable
    that may hold something else (a Python number, a dict, None, an unknown value) gets
    `v.get_value()` and `v.set_value(x)`, as does a write that changes shape or dtype
    (`jnp.concatenate`, `astype`). `self.count += 1` on a Variable becomes `self.count[...] += 1`.
    In files that import `flax.experimental.nnx` a marker is left where an array is assigned to the
    Variable itself, as flax 0.8.0 allowed. Only certain Variables are rewritten. `value` of an
    attribute of a Module or of an item of a State gets a marker if the rule does not know whether
    that is a Variable.
    """

    code = "TN120"
    title = "`v.value` is `v[...]`"
    since = (0, 12, 0)
    still_works = True
    example = """\
  import jax.numpy as jnp
- from flax import nnx
+ import typed_nnx as nnx

  class Counter(nnx.Module):
      def __init__(self):
          self.count = nnx.Variable(jnp.array(0))
          self.last = nnx.Variable(None)

      def __call__(self, x):
-         self.count.value += 1
-         self.last.value = x
-         return self.count.value
+         self.count[...] += 1
+         self.last.set_value(x)
+         return self.count[...]
"""

    def __init__(self, file: File) -> None:
        super().__init__(file)
        self._places = ValuePlaces(file)
        self._contents = self._places.contents
        self._assigned = AssignedValues(file)

    def plan(self) -> None:
        """Find the Variables of the file and what is written to them."""
        self._places.find()
        self._assigned.find()

    # -- reads --------------------------------------------------------------------------------

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rewrite a read, and a write in place."""
        if original.attr.value != "value":
            return self._about(original, updated)
        if not self._places.is_value(original):
            self._mark_unsure(original)
            return updated
        place = self._places.place(original)
        if place == LEFT:
            self.file.decide(original, _LEFT.format(code=code_of(original)))
            return updated
        if place == ALONE:
            return updated
        if self._places.is_whole(original):
            return whole(updated)
        return getter(updated, "get_value")

    def _about(self, original: cst.Attribute, updated: cst.Attribute) -> cst.Attribute:
        """Rewrite ``v.value.shape`` to ``v.shape``."""
        inner = original.value
        if original.attr.value in _ABOUT and self._is_rewritten(inner, updated.value):
            assert isinstance(updated.value, cst.Subscript)
            return updated.with_changes(value=updated.value.value)
        return updated

    def leave_Subscript(
        self, original: cst.Subscript, updated: cst.Subscript
    ) -> cst.BaseExpression:
        """Rewrite ``v.value[i]`` to ``v[i]``."""
        if self._is_rewritten(original.value, updated.value):
            assert isinstance(updated.value, cst.Subscript)
            return updated.with_changes(value=updated.value.value)
        return updated

    def _is_rewritten(self, original: cst.BaseExpression, updated: cst.BaseExpression) -> bool:
        """Whether ``v.value`` became ``v[...]``, without parentheses or comments around it."""
        return (
            isinstance(original, cst.Attribute)
            and original.attr.value == "value"
            and isinstance(updated, cst.Subscript)
            and not updated.lpar
            and isinstance(updated.whitespace_after_value, cst.SimpleWhitespace)
            and self._places.is_value(original)
        )

    # -- writes -------------------------------------------------------------------------------

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> _AssignResult:
        """Rewrite ``v.value = x`` to ``v.set_value(x)`` where it is not written in place."""
        target = original.targets[0].target
        if self._places.place(target) == ALONE:
            written = updated.targets[0].target
            assert isinstance(written, cst.Attribute)
            return cst.Expr(setter(written.value, "set_value", updated.value))
        self._assigned.mark(original)
        return updated

    def leave_AugAssign(
        self, original: cst.AugAssign, updated: cst.AugAssign
    ) -> cst.BaseSmallStatement:
        """Rewrite ``v.value += x`` and ``v += x``."""
        target = original.target
        if self._places.place(target) == ALONE and isinstance(updated.target, cst.Attribute):
            return self._stored(updated, updated.target.value)
        if not self._contents.is_variable(target):
            return updated
        if self._contents.is_kept_by_operation(target, original.operator, original.value):
            return updated.with_changes(target=whole_of(updated.target))
        if is_repeatable(target):
            return self._stored(updated, updated.target)
        self.file.decide(original, _LEFT.format(code=code_of(target)))
        return updated

    @staticmethod
    def _stored(node: cst.AugAssign, variable: cst.BaseExpression) -> cst.Expr:
        """Return ``v.set_value(v.get_value() + x)``."""
        value = cst.BinaryOperation(
            method_of(variable, "get_value"), operator_of(node.operator), operand(node.value)
        )
        return cst.Expr(setter(variable, "set_value", value))

    # -- markers ------------------------------------------------------------------------------

    def _mark_unsure(self, node: cst.Attribute) -> None:
        receiver = self.file.value(node.value)
        if isinstance(receiver, OneOf):
            evident = any(derives(option, "Variable") for option in receiver.options)
        elif receiver in (UNKNOWN, NOTHING) and node in self.file.analysis.values:
            evident = self._is_of_module(node.value) or self._is_of_state(node.value)
        else:
            evident = False
        if evident and code_of(node.value) not in self._texts:
            self.file.decide(node, _UNSURE.format(code=code_of(node.value)))

    @cached_property
    def _texts(self) -> frozenset[str]:
        return texts_in(self.file.analysis.nodes)

    def _is_of_module(self, node: cst.BaseExpression) -> bool:
        return (
            isinstance(node, cst.Attribute)
            and self.file.is_a(node.value, "Module", "Pytree") is True
        )

    def _is_of_state(self, node: cst.BaseExpression) -> bool:
        inner = node
        while isinstance(inner, (cst.Subscript, cst.Attribute)):
            inner = inner.value
            if self.file.is_a(inner, "State"):
                return True
        return False


_LEFT: Final = (
    "`{code}` cannot be rewritten here; read with v[...] or v.get_value(), write with v[...] = x or "
    "v.set_value(x)"
)
_UNSURE: Final = (
    "if `{code}` is a Variable, read its value with [...] (an array) or .get_value(), and write with "
    "[...] = x or .set_value(x)"
)


# -- values that are texts --------------------------------------------------------------------------


_OF_TEXTS: Final = frozenset(
    {"casefold", "endswith", "lower", "split", "startswith", "strip", "upper"}
)


def texts_in(nodes: NodeIndex) -> frozenset[str]:
    """Return the code of each ``x`` whose ``x.value`` the file uses as a text.

    It is compared with a text, is the key of a dict with texts as keys, is tested to be one, or has
    a method of texts called.

    Args:
        nodes: The nodes of the file.
    """
    return frozenset(
        code_of(node.value)
        for node in _texts(nodes)
        if isinstance(node, cst.Attribute) and node.attr.value == "value"
    )


def _texts(nodes: NodeIndex) -> Iterator[cst.BaseExpression]:
    for comparison in nodes.of(cst.Comparison):
        sides = [comparison.left, *(each.comparator for each in comparison.comparisons)]
        if any(_has_text(side) for side in sides):
            yield from sides
    for subscript in nodes.of(cst.Subscript):
        if isinstance(subscript.value, cst.Dict) and _has_text(subscript.value):
            indices = [each.slice for each in subscript.slice]
            yield from (index.value for index in indices if isinstance(index, cst.Index))
    for call in nodes.of(cst.Call):
        match call:
            case cst.Call(func=cst.Attribute(value=receiver, attr=cst.Name(value=name))) if (
                name in _OF_TEXTS
            ):
                yield receiver
            case cst.Call(
                func=cst.Name(value="isinstance"),
                args=[cst.Arg(value=tested), cst.Arg(value=cst.Name(value="str"))],
            ):
                yield tested


def _has_text(node: cst.BaseExpression) -> bool:
    """Whether a node is a text, or a container that has one as an item or a key."""
    if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
        return any(text_of(element.value) is not None for element in node.elements)
    if isinstance(node, cst.Dict):
        keys = [each.key for each in node.elements if isinstance(each, cst.DictElement)]
        return any(text_of(key) is not None for key in keys)
    return text_of(node) is not None


# -- assignments that once stored a value -----------------------------------------------------------


_OLD_PACKAGE: Final = "flax.experimental"
_MESSAGE: Final = (
    "`{code}` is a Variable, and in flax 0.8.0 this stored a value in it; today it puts something else "
    "in its place: write `{code}.set_value(x)` unless that is meant"
)


class AssignedValues:
    """Marks ``self.mean = x`` in files of the first versions.

    Until flax 0.8.1 an attribute with a Variable gave its value, and an assignment changed that value.
    Later versions put the array in the place of the Variable, which is lost. Files that import
    `flax.experimental.nnx` are taken to be of the first versions.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file
        scopes = (file.analysis.scope, *file.analysis.scopes.values())
        self._is_old = any(
            binding.full.startswith(_OLD_PACKAGE)
            for scope in scopes
            for binding in scope.imports.values()
        )
        self._made: set[tuple[object, str]] = set()

    def find(self) -> None:
        """Find the attributes that get a Variable somewhere in the file."""
        if not self._is_old:
            return
        for node in descendants(self._file.analysis.tree):
            if isinstance(node, cst.Assign) and self._is_variable(node.value):
                self._made.update(
                    self._key(target)
                    for each in node.targets
                    for target in targets_of(each.target)
                    if isinstance(target, cst.Attribute)
                )

    def mark(self, node: cst.Assign) -> None:
        """Mark an assignment that may have stored a value."""
        if not self._is_old or self._is_constructor() or self._is_variable(node.value):
            return
        if isinstance(node.value, cst.Name) and node.value.value == "None":
            return
        for each in node.targets:
            for target in targets_of(each.target):
                if isinstance(target, cst.Attribute) and self._holds_variable(target):
                    self._file.decide(node, _MESSAGE.format(code=code_of(target)))

    def _holds_variable(self, target: cst.Attribute) -> bool:
        """Whether an attribute of a Module gets a Variable somewhere."""
        if not self._file.is_a(target.value, "Module"):
            return False
        if self._key(target) in self._made:
            return True
        held = member_of(self._file.value(target.value), target.attr.value)
        return any(derives(option, "Variable") is True for option in options_of(held))

    def _key(self, target: cst.Attribute) -> tuple[object, str]:
        owner = without_none(self._file.value(target.value))
        return owner.cls if isinstance(owner, Instance) else "", target.attr.value

    def _is_variable(self, node: cst.BaseExpression) -> bool:
        """Whether an expression may well give a Variable."""
        found = options_of(self._file.value(node))
        return any(derives(option, "Variable") is True for option in found)

    def _is_constructor(self) -> bool:
        function = self._file.scope.function
        node = function.node if function is not None else None
        return isinstance(node, cst.FunctionDef) and node.name.value == "__init__"
