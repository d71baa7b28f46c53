"""The modules that stay in Linen: which others stay with them, and what is marked for it."""

from __future__ import annotations

from collections.abc import Mapping

from typed_nnx_codegen.migrate.linen.classes import LinenClass
from typed_nnx_codegen.migrate.linen.marker_codes import STAYS
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark


class Staying:
    """Decides which modules of a project stay in Linen.

    Args:
        plans: The plans of all modules.
    """

    def __init__(self, plans: Mapping[LinenClass, ClassPlan]) -> None:
        self._plans = plans

    def spread(self) -> None:
        """Let modules stay whose base stays."""
        for cls, plan in self._plans.items():
            if plan.stays:
                continue
            for base in cls.ancestry()[1:]:
                if base in self._plans and self._plans[base].stays:
                    plan.stays = f"its base `{base.name}` stays a module of Linen"

    def mark(self) -> None:
        """Mark the modules that stay, and where others construct them."""
        for cls, plan in self._plans.items():
            if plan.stays:
                said = "could not be migrated" if plan.problem else "it stays in Linen"
                plan.marks = [Mark(cls.node, f"{said}: {plan.stays}", STAYS)]
                continue
            for site in plan.sites:
                if site.is_bridged:
                    continue
                if isinstance(site.target, LinenClass) and self._stays(site.target):
                    message = f"`{site.target.name}` is still a module of Linen"
                    plan.marks.append(Mark(site.node, message, STAYS))

    def _stays(self, cls: LinenClass) -> bool:
        return cls in self._plans and bool(self._plans[cls].stays)
