"""TN110: a plain container of Modules or arrays is `nnx.List`, `nnx.Dict` or marked as data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives, member_of
from typed_nnx_codegen.migrate.analysis.syntax import descendants, targets_of
from typed_nnx_codegen.migrate.analysis.values import NONE, UNKNOWN, Collection, Instance, Value
from typed_nnx_codegen.migrate.registry import Rule, register
from typed_nnx_codegen.migrate.rules.container_uses import ContainerUses
from typed_nnx_codegen.migrate.rules.container_values import (
    are_names,
    containers_in,
    holds_nodes_only,
    is_data,
    is_given_rngs,
    only_containers,
    project_classes,
    takes_plain_containers,
)

_DATA: Final = "nnx.data"
_MARKS: Final = frozenset({"nnx.data", "nnx.static", "nnx.Data", "nnx.Static"})
_DATACLASSES: Final = frozenset({"dataclasses.dataclass", "nnx.dataclass"})
_SPACED_EQUAL: Final = cst.AssignEqual(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))


@dataclass(frozen=True)
class _Attribute:
    """An attribute that a value is assigned to.

    Attributes:
        owner: The expression of the object.
        name: Its name.
    """

    owner: cst.BaseExpression
    name: str


@register
class MarkPlainContainers(Rule):
    """Attributes of Modules are static unless they are data: a list of Modules has to say so.

    A list of Modules or Variables is an `nnx.List`, a dict with names as keys an `nnx.Dict`. What
    they cannot do stays what it is under `nnx.data(...)`: tuples, nested containers, arrays, other
    keys, containers that the code adds, compares or hands to other packages. Paths in a State
    stay the same. A list that is empty at first counts by what is appended to it later; so does an
    attribute that is None at first, which is ``nnx.data(None)``.

    A marker is left where items that nothing is known of are called.
    """

    code = "TN110"
    title = "A plain container of Modules or arrays is `nnx.List`, `nnx.Dict` or marked"
    since = (0, 12, 0)
    before = """\
from flax import nnx

class Stack(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layers = []
        for _ in range(3):
            self.layers.append(nnx.Linear(2, 2, rngs=rngs))
        self.heads = {"a": nnx.Linear(2, 3, rngs=rngs)}
"""
    after = """\
import typed_nnx as nnx

class Stack(nnx.Module):
    def __init__(self, rngs: nnx.Rngs):
        self.layers = nnx.List([])
        for _ in range(3):
            self.layers.append(nnx.Linear(2, 2, rngs=rngs))
        self.heads = nnx.Dict({"a": nnx.Linear(2, 3, rngs=rngs)})
"""

    def plan(self) -> None:
        """Look at what the file does with its attributes."""
        self._uses = ContainerUses(self.file)

    # -- assignments --------------------------------------------------------------------------

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """Rewrite what is assigned to attributes."""
        targets = [target.target for target in original.targets]
        first = targets[0]
        if len(targets) == 1 and isinstance(first, (cst.Tuple, cst.List)):
            return self._unpacked(first, original, updated)
        attributes = self._attributes(targets)
        if not attributes:
            return updated
        has_others = len(attributes) < len(targets)
        value = self._wrapped(attributes, original.value, updated.value, has_others=has_others)
        return updated if value is updated.value else updated.with_changes(value=value)

    def leave_AnnAssign(self, original: cst.AnnAssign, updated: cst.AnnAssign) -> cst.AnnAssign:
        """Rewrite what is assigned to an annotated attribute, or a field of a dataclass."""
        if self.file.scope.kind == "class":
            return self._field(original, updated)
        if original.value is None or updated.value is None or self._is_marked(original):
            return updated
        attributes = self._attributes([original.target])
        if not attributes:
            return updated
        value = self._wrapped(attributes, original.value, updated.value, annotated=True)
        return updated if value is updated.value else updated.with_changes(value=value)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite ``setattr(module, name, value)``."""
        if self.file.name(original.func) != "builtins.setattr" or len(original.args) != 3:
            return updated
        owner, _, item = original.args
        if item.star or self.file.is_a(owner.value, "Pytree") is not True:
            return updated
        attribute = _Attribute(owner.value, "")
        value = self._wrapped([attribute], item.value, updated.args[2].value)
        if value is updated.args[2].value:
            return updated
        return updated.with_changes(
            args=[*updated.args[:2], updated.args[2].with_changes(value=value)]
        )

    def _attributes(self, targets: Sequence[cst.BaseExpression]) -> list[_Attribute]:
        """Return the attributes of Pytrees among targets."""
        return [
            _Attribute(target.value, target.attr.value)
            for target in targets
            if isinstance(target, cst.Attribute)
            and self.file.is_a(target.value, "Pytree") is True
            and not takes_plain_containers(self.file.value(target.value))
            and not self._is_declared(target)
        ]

    def _unpacked(
        self, target: cst.Tuple | cst.List, original: cst.Assign, updated: cst.Assign
    ) -> cst.Assign:
        """Rewrite ``self.a, self.b = [...], [...]``."""
        value, new = original.value, updated.value
        if (
            isinstance(value, cst.Tuple)
            and isinstance(new, cst.Tuple)
            and len(value.elements) == len(target.elements)
            and not any(isinstance(e, cst.StarredElement) for e in (*value.elements, *target.elements))
        ):
            elements = [
                after.with_changes(
                    value=self._wrapped(self._attributes([to.value]), item.value, after.value)
                )
                for to, item, after in zip(
                    target.elements, value.elements, new.elements, strict=True
                )
            ]
            same = all(
                one.value is other.value
                for one, other in zip(elements, new.elements, strict=True)
            )
            return updated if same else updated.with_changes(value=new.with_changes(elements=elements))
        for single in targets_of(target):
            found = self.file.value(single)
            if self._attributes([single]) and containers_in(found) and is_data(found):
                self.file.decide(
                    original,
                    "assign the attributes one by one: plain containers of data need `nnx.List`,"
                    " `nnx.Dict` or `nnx.data`",
                )
                break
        return updated

    # -- fields of dataclasses ----------------------------------------------------------------

    def _field(self, original: cst.AnnAssign, updated: cst.AnnAssign) -> cst.AnnAssign:
        owner = self.file.scope.owner
        if owner is None or not isinstance(original.target, cst.Name) or self._is_marked(original):
            return updated
        if not _DATACLASSES.intersection(owner.decorators) or not class_derives(owner, "Pytree"):
            return updated
        if takes_plain_containers(Instance(owner)):
            return updated
        value = owner.annotated.get(original.target.value, UNKNOWN)
        if not containers_in(value) or not is_data(value):
            return updated
        old = original.value
        if old is None:
            return updated.with_changes(value=self.file.call(_DATA), equal=_SPACED_EQUAL)
        assert updated.value is not None
        if isinstance(old, cst.Call) and isinstance(updated.value, cst.Call):
            if self.file.name(old.func) == "dataclasses.field":
                new = updated.value.with_changes(func=self.file.refer(_DATA))
                return updated.with_changes(value=new)
        return updated.with_changes(value=self.file.call(_DATA, default=updated.value))

    def _is_marked(self, node: cst.AnnAssign) -> bool:
        """Whether the annotation or the value of a declaration says what it holds."""
        return any(
            self.file.name(below) in _MARKS
            for part in (node.annotation.annotation, node.value)
            if part is not None
            for below in (part, *descendants(part))
            if isinstance(below, (cst.Name, cst.Attribute))
        )

    def _is_declared(self, target: cst.Attribute) -> bool:
        """Whether a class declares what an attribute holds."""
        name = target.attr.value
        return any(
            isinstance(below, cst.AnnAssign)
            and isinstance(below.target, cst.Name)
            and below.target.value == name
            and self._is_marked(below)
            for cls in project_classes(self.file.value(target.value))
            for line in cls.node.body.body
            if isinstance(line, cst.SimpleStatementLine)
            for below in line.body
        )

    # -- the wrapper --------------------------------------------------------------------------

    def _wrapped(
        self,
        attributes: Sequence[_Attribute],
        original: cst.BaseExpression,
        updated: cst.BaseExpression,
        *,
        has_others: bool = False,
        annotated: bool = False,
    ) -> cst.BaseExpression:
        """Return a value for attributes, marked if it has to be; itself if not.

        Args:
            attributes: What it is assigned to.
            original: The value in the file.
            updated: The value with the changes of other rules.
            has_others: Whether it is assigned to something else too.
            annotated: Whether an annotation says that it is a plain container.
        """
        if not attributes or self._has_mark(original):
            return updated
        value = self.file.value(original)
        if value == NONE:
            if has_others or not self._is_data_later(attributes, original):
                return updated
            return self.file.call(_DATA, updated)
        if self._is_shared(original):
            return updated
        holds = self._holds(value, self._items(attributes, original), original)
        if not holds:
            if holds is None and any(self._uses.of(a.name).is_called for a in attributes):
                self._decide_unknown(original)
            return updated
        wrapper = self._wrapper(attributes, original, annotated=annotated)
        if wrapper == _DATA and has_others:
            self.file.decide(
                original, "assign the attribute by itself and mark it: `nnx.data(...)`"
            )
            return updated
        return self.file.call(wrapper, updated)

    def _holds(
        self, value: Value, items: Sequence[Value], original: cst.BaseExpression
    ) -> bool | None:
        """Whether a value is a plain container of data."""
        containers = containers_in(value)
        if not containers:
            return None if value == UNKNOWN else False
        found = [is_data(element) for element in [*(c.element for c in containers), *items]]
        if any(found):
            return True
        if None in found:
            return True if is_given_rngs(original) else None
        return False

    def _wrapper(
        self,
        attributes: Sequence[_Attribute],
        original: cst.BaseExpression,
        *,
        annotated: bool,
    ) -> str:
        """Return what to call with a container."""
        value = self.file.value(original)
        containers = containers_in(value)
        items = self._items(attributes, original)
        uses = [self._uses.of(attribute.name) for attribute in attributes if attribute.name]
        if annotated or any(use.is_plain for use in uses) or self._is_typed(attributes):
            return _DATA
        if not holds_nodes_only([*(each.element for each in containers), *items]):
            return _DATA
        if isinstance(original, cst.Attribute) or self._grows_later(original):
            # The attribute and what else has the container go on to share it.
            return _DATA
        if only_containers(value, "list"):
            return "nnx.List"
        keys = [*self._keys(original), *(key for use in uses for key in use.keys)]
        return "nnx.Dict" if only_containers(value, "dict") and are_names(keys) else _DATA

    def _keys(self, node: cst.BaseExpression) -> list[Value]:
        """Return the keys of a dict that is written down."""
        match node:
            case cst.Dict():
                return [
                    self.file.value(each.key) if isinstance(each, cst.DictElement) else UNKNOWN
                    for each in node.elements
                ]
            case cst.DictComp():
                return [self.file.value(node.key)]
            case _:
                return [UNKNOWN]

    def _items(
        self, attributes: Sequence[_Attribute], original: cst.BaseExpression
    ) -> list[Value]:
        """Return what is put into attributes, or into the container they get, elsewhere."""
        values: list[Value] = []
        for attribute in attributes:
            if attribute.name:
                values.append(member_of(self.file.value(attribute.owner), attribute.name))
                values += self._uses.of(attribute.name).added
        if isinstance(original, cst.Name) and self._grows_later(original):
            values.append(self.file.scope.lookup(original.value) or UNKNOWN)
        return [each.element for value in values for each in containers_in(value)]

    # -- questions ----------------------------------------------------------------------------

    def _has_mark(self, node: cst.BaseExpression) -> bool:
        return any(
            isinstance(below, cst.Call) and self.file.name(below.func) in _MARKS
            for below in descendants(node)
        )

    def _is_typed(self, attributes: Sequence[_Attribute]) -> bool:
        """Whether a class says by an annotation that attributes are plain containers."""
        return any(
            containers_in(cls.annotated.get(attribute.name, UNKNOWN))
            for attribute in attributes
            for cls in project_classes(self.file.value(attribute.owner))
        )

    def _is_shared(self, node: cst.BaseExpression) -> bool:
        """Whether a value is the container of another attribute, which is rewritten first."""
        if not isinstance(node, cst.Attribute) or self.file.is_a(node.value, "Pytree") is not True:
            return False
        return any(
            not self._has_mark(each.value) and containers_in(self.file.value(each.value))
            for each in self._uses.of(node.attr.value).assignments
        )

    def _grows_later(self, node: cst.BaseExpression) -> bool:
        """Whether a local container gets more items after it was assigned."""
        place = self._uses.places.get(node)
        if place is None or not isinstance(node, cst.Name):
            return False
        return self._uses.grown.get((place.function, node.value), 0) > place.order

    def _is_data_later(self, attributes: Sequence[_Attribute], node: cst.BaseExpression) -> bool:
        """Whether an attribute that is None here is assigned data afterwards."""
        here = self._uses.places.get(node)
        if here is None:
            return False
        for attribute in attributes:
            for other in self._uses.of(attribute.name).assignments:
                if not is_data(self.file.value(other.value)):
                    continue
                if other.function is here.function:
                    if other.order > here.order and not here.excludes(other):
                        return True
                elif _is_init(here.function) and not _is_init(other.function):
                    return True
        return False

    def _decide_unknown(self, node: cst.BaseExpression) -> None:
        kind = "a container" if isinstance(self.file.value(node), Collection) else "a plain container"
        self.file.decide(
            node,
            f"if this is {kind} of Modules or arrays, write `nnx.List(...)`, `nnx.Dict(...)` or"
            " `nnx.data(...)`; its items are called, and nothing says what they are",
        )


def _is_init(function: cst.CSTNode | None) -> bool:
    return isinstance(function, cst.FunctionDef) and function.name.value == "__init__"
