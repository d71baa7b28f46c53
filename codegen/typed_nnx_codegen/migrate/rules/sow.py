"""TN133: ``sow`` and ``perturb`` store values inside ``nnx.capture`` only."""

from __future__ import annotations

from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.values import (
    NNX_PACKAGES,
    External,
    ProjectClass,
    Scope,
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
    that already use typed_nnx in place of flax, or that capture something. If another file captures the
    class, a comment ``# typed-nnx: keep TN133`` at the class prevents the marker.
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
        """Start with no class that has a marker, unless the file captures values already."""
        self._marked: set[tuple[ProjectClass | None, str]] = set()
        calls = self.file.analysis.known.of(cst.Call)
        self._is_captured = any(
            self.file.name(node.func) == "nnx.capture" for node in calls
        ) or not any(
            isinstance(one, External) and one.name.startswith(_FLAX)
            for one in self.file.analysis.values.values()
        )

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
        if (owner, method.name) in self._marked or self._is_captured:
            return updated
        if owner is not None:
            self._marked.add((owner, method.name))
        self.file.decide(original, _MESSAGES[method.name])
        return updated


def _class_around(scope: Scope | None) -> ProjectClass | None:
    """Return the class whose method a scope is in."""
    while scope is not None:
        if scope.owner is not None:
            return scope.owner
        scope = scope.parent
    return None
