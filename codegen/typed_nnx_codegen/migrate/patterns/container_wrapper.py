"""Which wrapper a value needs that is assigned to an attribute: `nnx.List`, `nnx.Dict`, `nnx.data`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import derives, member_of
from typed_nnx_codegen.migrate.analysis.syntax import descendants
from typed_nnx_codegen.migrate.analysis.values import (
    NONE,
    UNKNOWN,
    Constant,
    Plain,
    Value,
    options_of,
    without_none,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.patterns.container_uses import Assignment, ContainerUses
from typed_nnx_codegen.migrate.patterns.container_values import (
    are_names,
    containers_in,
    holds_nodes_only,
    holds_others_too,
    is_data,
    is_given_rngs,
    only_containers,
    project_classes,
)

DATA: Final = "nnx.data"
DATACLASSES: Final = frozenset({"dataclasses.dataclass", "nnx.dataclass"})
_SPACED_EQUAL: Final = cst.AssignEqual(cst.SimpleWhitespace(" "), cst.SimpleWhitespace(" "))
MARKS: Final = frozenset({"nnx.data", "nnx.static", "nnx.Data", "nnx.Static"})
_MAYBE_LATER: Final = (
    "if a call assigns arrays or Modules to it, write `nnx.data(None)` here: what is None at first"
    " is static"
)


@dataclass(frozen=True)
class Attribute:
    """An attribute that a value is assigned to.

    Attributes:
        owner: The expression of the object.
        name: Its name.
    """

    owner: cst.BaseExpression
    name: str


class ContainerWrapper:
    """Wraps the values of attributes that have to say that they are data.

    Args:
        file: The file.
    """

    def __init__(self, file: File) -> None:
        self._file = file

    @cached_property
    def _uses(self) -> ContainerUses:
        """What the file does with attributes; most files are never asked."""
        return ContainerUses(self._file)

    def wrapped(
        self,
        attributes: Sequence[Attribute],
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
        value = self._file.value(original)
        if value == NONE:
            is_later = not has_others and self._is_data_later(attributes, original)
            if is_later is None:
                self._file.decide(original, _MAYBE_LATER)
            return self._file.call(DATA, updated) if is_later else updated
        if (value != UNKNOWN and not containers_in(value)) or self._is_shared(original):
            return updated
        if self._is_ready(attributes, value):
            return updated
        holds = self._holds(attributes, original)
        if not holds:
            if holds is None and self._has_calls(attributes):
                self._decide_unknown(original)
            return updated
        wrapper = self._wrapper(attributes, original, annotated=annotated)
        if wrapper == DATA and has_others:
            self._file.decide(
                original, "assign the attribute by itself and mark it: `nnx.data(...)`"
            )
            return updated
        return self._file.call(wrapper, updated)

    def _holds(self, attributes: Sequence[Attribute], original: cst.BaseExpression) -> bool | None:
        """Whether a value is a plain container of data; None if not sure."""
        containers = containers_in(self._file.value(original))
        if not containers or self._may_be_simple(original):
            return None
        items = self._items(attributes, original)
        found = [is_data(element) for element in [*(c.element for c in containers), *items]]
        if any(found):
            return True
        if None in found:
            return True if self._is_given_rngs(attributes, original) else None
        return False

    def _is_given_rngs(self, attributes: Sequence[Attribute], original: cst.BaseExpression) -> bool:
        """Whether items are made with ``rngs=``, so that they are Modules or arrays."""
        place = self._uses.places.get(original)
        names = [attribute.name for attribute in attributes if attribute.name]
        if is_given_rngs(original) or any(self._uses.of(name).is_given_rngs for name in names):
            return True
        if place is None or not isinstance(original, cst.Name):
            return False
        return (place.function, original.value) in self._uses.given_rngs

    def _wrapper(
        self, attributes: Sequence[Attribute], original: cst.BaseExpression, *, annotated: bool
    ) -> str:
        """Return what to call with a container."""
        value = self._file.value(original)
        containers = containers_in(value)
        items = self._items(attributes, original)
        uses = [self._uses.of(attribute.name) for attribute in attributes if attribute.name]
        if annotated or any(use.is_plain for use in uses) or self._is_typed(attributes):
            return DATA
        elements = [*(each.element for each in containers), *items]
        if not holds_nodes_only(elements):
            return DATA
        if any(use.is_moved for use in uses) and holds_others_too(elements):
            # An item of an `nnx.List` is data or static for good.
            return DATA
        if isinstance(original, cst.Attribute) or self._grows_later(original):
            # The attribute and what else has the container go on to share it.
            return DATA
        if only_containers(value, "list"):
            return "nnx.List"
        keys = [*self._keys(original), *(key for use in uses for key in use.keys)]
        return "nnx.Dict" if only_containers(value, "dict") and are_names(keys) else DATA

    def _keys(self, node: cst.BaseExpression) -> list[Value]:
        """Return the keys of a dict, `UNKNOWN` for those that nothing tells."""
        if isinstance(node, cst.DictComp):
            return [self._file.value(node.key)]
        if isinstance(node, cst.Dict):
            return [
                self._file.value(each.key) if isinstance(each, cst.DictElement) else UNKNOWN
                for each in node.elements
            ]
        return [
            Constant(key, type(key).__name__)
            for container in containers_in(self._file.value(node))
            for key in (container.keys if container.keys is not None else (None,))
        ]

    def _items(self, attributes: Sequence[Attribute], original: cst.BaseExpression) -> list[Value]:
        """Return what is put into attributes, or into the container they get, elsewhere."""
        values: list[Value] = []
        for attribute in attributes:
            if attribute.name:
                values.append(member_of(self._file.value(attribute.owner), attribute.name))
                values += [
                    value
                    for owner, value in self._uses.of(attribute.name).added
                    if self._is_same(attribute.owner, owner)
                ]
        if isinstance(original, cst.Name) and self._grows_later(original):
            values.append(self._file.scope.lookup(original.value) or UNKNOWN)
        return [each.element for value in values for each in containers_in(value)]

    # -- questions ----------------------------------------------------------------------------

    def _is_ready(self, attributes: Sequence[Attribute], value: Value) -> bool:
        """Whether the code takes care of it: by a list of NNX where there is one, or later on."""
        if any(derives(option, "List", "Dict") for option in options_of(value)):
            return True
        uses = [self._uses.of(attribute.name) for attribute in attributes if attribute.name]
        return any(use.is_deleted and use.is_promoted for use in uses)

    def _may_be_simple(self, node: cst.BaseExpression) -> bool:
        """Whether a value may be a number or a text too, which would become data with a mark."""
        options = options_of(without_none(self._file.value(node)))
        return any(isinstance(option, (Constant, Plain)) for option in options)

    def _has_calls(self, attributes: Sequence[Attribute]) -> bool:
        """Whether the file calls items of attributes."""
        return any(
            self._is_same(attribute.owner, owner)
            for attribute in attributes
            for owner in self._uses.of(attribute.name).called
        )

    def _has_mark(self, node: cst.BaseExpression) -> bool:
        return any(
            isinstance(below, cst.Call) and self._file.name(below.func) in MARKS
            for below in descendants(node)
        )

    def _is_typed(self, attributes: Sequence[Attribute]) -> bool:
        """Whether a class says by an annotation that attributes are plain containers."""
        return any(
            containers_in(cls.annotated.get(attribute.name, UNKNOWN))
            for attribute in attributes
            for cls in project_classes(self._file.value(attribute.owner))
        )

    def _is_shared(self, node: cst.BaseExpression) -> bool:
        """Whether a value is the container of another attribute, which is rewritten first."""
        if not isinstance(node, cst.Attribute) or self._file.is_a(node.value, "Pytree") is not True:
            return False
        return any(
            not self._has_mark(each.value) and containers_in(self._file.value(each.value))
            for each in self._uses.of(node.attr.value).assignments
        )

    def _grows_later(self, node: cst.BaseExpression) -> bool:
        """Whether a local container gets more items after it was assigned."""
        place = self._uses.places.get(node)
        if place is None or not isinstance(node, cst.Name):
            return False
        return self._uses.grown.get((place.function, node.value), 0) > place.order

    def _is_data_later(
        self, attributes: Sequence[Attribute], node: cst.BaseExpression
    ) -> bool | None:
        """Whether an attribute that is None here is assigned data afterwards; None if not sure."""
        here = self._uses.places.get(node)
        if here is None:
            return False
        answers = {
            self._is_data_at(other)
            for attribute in attributes
            for other in self._uses.of(attribute.name).assignments
            if self._is_same(attribute.owner, other.owner) and _follows(other, here)
        }
        if True in answers:
            return True
        return None if None in answers else False

    def _is_data_at(self, place: Assignment) -> bool | None:
        """Whether an assignment is of data; None where a call assigns something unknown."""
        found = is_data(self._file.value(place.value))
        return False if found is None and _name(place.function) != "__call__" else found

    def _is_same(self, one: cst.BaseExpression, other: cst.BaseExpression | None) -> bool:
        """Whether two expressions may be one object."""
        if other is None:
            return False
        classes = project_classes(self._file.value(one))
        return any(cls in classes for cls in project_classes(self._file.value(other)))

    def _decide_unknown(self, node: cst.BaseExpression) -> None:
        self._file.decide(
            node,
            "if this is a plain container of Modules or arrays, write `nnx.List(...)`,"
            " `nnx.Dict(...)` or `nnx.data(...)`; its items are called, and nothing says what they"
            " are",
        )


def _follows(other: Assignment, here: Assignment) -> bool:
    """Whether an assignment can run after another one of the same object."""
    if other.function is here.function:
        return other.order > here.order and not here.excludes(other)
    return _name(here.function) == "__init__" != _name(other.function)


def _name(function: cst.CSTNode | None) -> str:
    return function.name.value if isinstance(function, cst.FunctionDef) else ""


def is_field(file: File, value: cst.BaseExpression | None) -> bool:
    """Whether a value is a call of `dataclasses.field`."""
    return isinstance(value, cst.Call) and file.name(value.func) == "dataclasses.field"


def marked_field(
    file: File, original: cst.AnnAssign, updated: cst.AnnAssign, mark: str
) -> cst.AnnAssign:
    """Return the declaration of a field with a mark: ``x: T = nnx.data(default=v)``."""
    if updated.value is None:
        return updated.with_changes(value=file.call(mark), equal=_SPACED_EQUAL)
    if isinstance(updated.value, cst.Call) and is_field(file, original.value):
        return updated.with_changes(value=updated.value.with_changes(func=file.refer(mark)))
    return updated.with_changes(value=file.call(mark, default=updated.value))
