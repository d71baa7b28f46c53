"""TN133: ``sow`` and ``perturb`` store values inside ``nnx.capture`` only."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.members import ancestry
from typed_nnx_codegen.migrate.analysis.values import (
    NNX_PACKAGES,
    Collection,
    External,
    Instance,
    Method,
    OneOf,
    ProjectClass,
    Scope,
    Value,
)
from typed_nnx_codegen.migrate.registry import Rule, register

_FLAX: Final = tuple(one for one in NNX_PACKAGES if one.startswith("flax."))
_MESSAGES: Final = {
    "sow": (
        "`sow` is for calls inside `nnx.capture`: `y, stored = nnx.capture(model, "
        "nnx.Intermediate)(x)`; does another file call it so?"
    ),
    "perturb": (
        "`perturb` is for calls inside `nnx.capture`: `y, zeros, stored = nnx.capture(model, "
        "nnx.Perturbation, nnx.Intermediate)(x)`; does another file call it so?"
    ),
}


@register
class CaptureStoredValues(Rule):
    """Marks `sow` and `perturb`, once for each class: flax now wants the call in `nnx.capture`.

    Reading the stored values changes with it, so the rule rewrites nothing. It does not mark files
    that already use typed_nnx in place of flax, or that capture the class or something unknown. If
    another file captures the class, a comment ``# typed-nnx: keep TN133`` at the class prevents the
    marker.
    """

    code = "TN133"
    title = "`sow` and `perturb` store values inside `nnx.capture` only"
    since = (0, 12, 8)
    still_works = True
    example = f"""\
- from flax import nnx
+ import typed_nnx as nnx

  class Model(nnx.Module):
      def __call__(self, x):
+         # TODO[typed-nnx] TN133: {_MESSAGES["sow"]}
          self.sow(nnx.Intermediate, "x", x)
          return x
"""

    def plan(self) -> None:
        """Start with no class that has a marker."""
        self._marked: set[tuple[ProjectClass | None, str]] = set()
        self._captured: set[ProjectClass] | None = set()
        self._looked = False

    def leave_Call(self, original: cst.Call, updated: cst.Call) -> cst.Call:
        """Mark ``self.sow(...)`` and ``self.perturb(...)``."""
        if (
            not isinstance(original.func, cst.Attribute)
            or original.func.attr.value not in _MESSAGES
        ):
            return updated
        method = self.file.method(original)
        if method is None or method.cls != "Module" or method.name not in _MESSAGES:
            return updated
        owner = _class_around(self.file.scope)
        if (owner, method.name) in self._marked or self._is_captured(owner):
            return updated
        if owner is not None:
            self._marked.add((owner, method.name))
        self.file.decide(original, _MESSAGES[method.name])
        return updated

    def _is_captured(self, owner: ProjectClass | None) -> bool:
        if not self._looked:
            self._looked = True
            self._look()
        return self._captured is None or (owner is not None and owner in self._captured)

    def _look(self) -> None:
        """Find the classes whose objects the file captures; None for any."""
        values = self.file.analysis.values.values()
        if not any(isinstance(one, External) and one.name.startswith(_FLAX) for one in values):
            self._captured = None
            return
        for node in self.file.analysis.known.of(cst.Call):
            if self.file.name(node.func) == "nnx.capture":
                first = node.args[0] if node.args else None
                found: set[ProjectClass] = set()
                if first is None or first.star or not _reach(self.file.value(first.value), found):
                    self._captured = None
                    return
                assert self._captured is not None
                self._captured |= found


def _class_around(scope: Scope | None) -> ProjectClass | None:
    """Return the class whose method a scope is in."""
    while scope is not None:
        if scope.owner is not None:
            return scope.owner
        scope = scope.parent
    return None


def _reach(value: Value, found: set[ProjectClass]) -> bool:
    """Add the classes of an object and of all that it holds; returns whether it is known."""
    match value:
        case Method(receiver=receiver):
            return _reach(receiver, found)
        case OneOf(options=options):
            return all(_reach(option, found) for option in options)
        case Collection(element=element):
            return _reach(element, found)
        case Instance(cls=ProjectClass() as cls):
            if cls not in found:
                for base in ancestry(cls)[0]:
                    if isinstance(base, ProjectClass):
                        found.add(base)
                        for held in (*base.attributes.values(), *base.annotated.values()):
                            _reach(held, found)
            _reach(value.of, found)
            return True
        case Instance():
            _reach(value.of, found)
            return value.cls != "nnx.Module"
        case _:
            return False
