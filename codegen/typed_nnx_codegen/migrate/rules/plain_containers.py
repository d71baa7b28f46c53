"""TN110: a plain container of Modules or arrays is `nnx.List`, `nnx.Dict` or marked as data."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import class_derives
from typed_nnx_codegen.migrate.analysis.syntax import descendants, targets_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, Instance
from typed_nnx_codegen.migrate.patterns.container_values import (
    containers_in,
    is_data,
    project_classes,
    takes_plain_containers,
)
from typed_nnx_codegen.migrate.patterns.container_wrapper import (
    DATA,
    DATACLASSES,
    MARKS,
    Attribute,
    ContainerWrapper,
    marked_field,
)
from typed_nnx_codegen.migrate.registry import Rule, register


@register
class MarkPlainContainers(Rule):
    """Attributes of Modules are static unless they are data, so a list of Modules must be marked.

    A list of Modules or Variables becomes an `nnx.List`, a dict with names as keys an `nnx.Dict`.
    What these do not support is wrapped in `nnx.data(...)`: tuples, nested containers, arrays,
    other keys, containers that the code adds, compares or passes to other packages. Paths in a
    State do not change. For a list that starts empty, what is appended later decides; likewise for
    an attribute that starts as None, which becomes ``nnx.data(None)``.

    A marker is left where unknown items are called.
    """

    code = "TN110"
    title = "A plain container of Modules or arrays is `nnx.List`, `nnx.Dict` or marked"
    since = (0, 12, 0)
    example = """\
- from flax import nnx
+ import typed_nnx as nnx

  class Stack(nnx.Module):
      def __init__(self, rngs: nnx.Rngs):
-         self.layers = []
+         self.layers = nnx.List([])
          for _ in range(3):
              self.layers.append(nnx.Linear(2, 2, rngs=rngs))
-         self.heads = {"a": nnx.Linear(2, 3, rngs=rngs)}
+         self.heads = nnx.Dict({"a": nnx.Linear(2, 3, rngs=rngs)})
"""

    def plan(self) -> None:
        """Look at what the file does with its attributes."""
        self._wrapper = ContainerWrapper(self.file)

    # -- assignments --------------------------------------------------------------------------

    def leave_Assign(self, original: cst.Assign, updated: cst.Assign) -> cst.Assign:
        """Rewrite what is assigned to attributes."""
        targets = [target.target for target in original.targets]
        first = targets[0]
        if len(targets) == 1 and isinstance(first, (cst.Tuple, cst.List)):
            self._unpacked(first, original)
            return updated
        attributes = self._attributes(targets)
        if not attributes:
            return updated
        has_others = len(attributes) < len(targets)
        value = self._wrapper.wrapped(
            attributes, original.value, updated.value, has_others=has_others
        )
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
        value = self._wrapper.wrapped(attributes, original.value, updated.value, annotated=True)
        return updated if value is updated.value else updated.with_changes(value=value)

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Rewrite ``setattr(module, name, value)``."""
        if self.file.name(original.func) != "builtins.setattr" or len(original.args) != 3:
            return updated
        owner, _, item = original.args
        if item.star or self.file.is_a(owner.value, "Pytree") is not True:
            return updated
        attribute = Attribute(owner.value, "")
        value = self._wrapper.wrapped([attribute], item.value, updated.args[2].value)
        if value is updated.args[2].value:
            return updated
        return updated.with_changes(
            args=[*updated.args[:2], updated.args[2].with_changes(value=value)]
        )

    def _attributes(self, targets: Sequence[cst.BaseExpression]) -> list[Attribute]:
        """Return the attributes of Pytrees among targets."""
        return [
            Attribute(target.value, target.attr.value)
            for target in targets
            if isinstance(target, cst.Attribute)
            and self.file.is_a(target.value, "Pytree") is True
            and not takes_plain_containers(self.file.value(target.value))
            and not self._is_declared(target)
        ]

    def _unpacked(self, target: cst.Tuple | cst.List, original: cst.Assign) -> None:
        """Mark ``self.a, self.b = [...], [...]``."""
        for single in targets_of(target):
            found = self.file.value(single)
            if self._attributes([single]) and containers_in(found) and is_data(found):
                self.file.decide(
                    original,
                    "assign the attributes one by one: plain containers of data need `nnx.List`,"
                    " `nnx.Dict` or `nnx.data`",
                )
                break

    # -- fields of dataclasses ----------------------------------------------------------------

    def _field(self, original: cst.AnnAssign, updated: cst.AnnAssign) -> cst.AnnAssign:
        owner = self.file.scope.owner
        if owner is None or not isinstance(original.target, cst.Name) or self._is_marked(original):
            return updated
        if not DATACLASSES.intersection(owner.decorators) or not class_derives(owner, "Pytree"):
            return updated
        if takes_plain_containers(Instance(owner)):
            return updated
        value = owner.annotated.get(original.target.value, UNKNOWN)
        if not containers_in(value) or not is_data(value):
            return updated
        return marked_field(self.file, original, updated, DATA)

    def _is_marked(self, node: cst.AnnAssign) -> bool:
        """Whether the annotation or the value of a declaration says what it holds."""
        return any(
            self.file.name(below) in MARKS
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
