"""The modules that stay in Linen: which others stay with them, and what is marked for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from typed_nnx_codegen.migrate.linen.marker_codes import (
    CALL,
    EXAMPLE,
    NAME,
    STAYS,
    TRANSFORM,
)
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark

# The markers of code that runs as it stands, and may compute something else.
_RUNNING: Final = frozenset({CALL, NAME, TRANSFORM, EXAMPLE})


class Staying:
    """Decides which modules of a project stay in Linen.

    Args:
        plans: The plans of all modules.
        kept: The files that are only read.
    """

    def __init__(
        self, plans: Mapping[LinenClass, ClassPlan], kept: frozenset[Path] = frozenset()
    ) -> None:
        self._plans = plans
        self._kept = kept

    def spread(self) -> None:
        """Let modules stay whose base stays."""
        for cls, plan in self._plans.items():
            if plan.stays:
                continue
            for base in cls.ancestry()[1:]:
                if base in self._plans and self._plans[base].stays:
                    plan.stays = f"its base `{base.name}` stays a module of Linen"

    def mark(self) -> None:
        """Mark the modules that stay or are not finished, and where others construct them."""
        for cls, plan in self._plans.items():
            if plan.stays:
                said = "could not be migrated" if plan.problem else "it stays in Linen"
                plan.marks = [Mark(cls.node, f"{said}: {plan.stays}", STAYS)]
                continue
            for site in plan.sites:
                if site.is_bridged:
                    continue
                if isinstance(site.target, LinenClass) and self._stays(site.target):
                    plan.marks.append(Mark(site.node, self._said(site.target), STAYS))
        while any(self._mark_owner(plan) for plan in self._plans.values()):
            pass

    def _mark_owner(self, plan: ClassPlan) -> bool:
        """Mark a module that constructs one which is left to a person; return whether it does.

        That is for markers of what may run and compute something else. Other markers are of code
        that cannot run as it stands: whoever runs this module comes to them.
        """
        if plan.marks or plan.stays:
            return False
        for site in plan.sites:
            child = self._plans.get(site.target) if isinstance(site.target, LinenClass) else None
            marks = [] if child is None else child.marks
            codes = [one.code for one in marks if one.code in _RUNNING and one.is_of_owners]
            if child is not None and codes and not site.is_bridged:
                message = f"`{child.cls.name}` is left to a person in part: see its markers"
                plan.marks.append(Mark(site.node, message, codes[0]))
                return True
        return False

    def _said(self, cls: LinenClass) -> str:
        message = f"`{cls.name}` is still a module of Linen"
        path = cls.analysis.path
        is_kept = path in self._kept
        return f"{message}: migrate {path.name} together with this file" if is_kept else message

    def _stays(self, cls: LinenClass) -> bool:
        return cls in self._plans and bool(self._plans[cls].stays)
