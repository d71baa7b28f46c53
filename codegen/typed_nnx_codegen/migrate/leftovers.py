"""Older names that their rule neither rewrote nor marked where they stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.name_lookup import has_name
from typed_nnx_codegen.migrate.analysis.values import NNX
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.registry import Rule

MESSAGE: Final = (
    "`{name}` is an older name and is not used here in a way that the rule knows: {title}"
)


class Leftovers:
    """Finds references to names that the target does not have and a rule is there for.

    Args:
        file: The file.
        rules: The rules that apply.
    """

    def __init__(self, file: File, rules: Sequence[Rule]) -> None:
        self._file = file
        self._rules = {
            f"{NNX}.{name}": rule
            for rule in rules
            for name in rule.handles
            if not has_name(file.target, name)
        }
        self._last = frozenset(name.rpartition(".")[2] for name in self._rules)

    def rule_of(self, node: cst.CSTNode) -> Rule | None:
        """Return the rule that a reference is for; None where the target has the name."""
        if isinstance(node, cst.Attribute) and node.attr.value not in self._last:
            return None
        return self._rules.get(self._file.name(node))

    def message(self, node: cst.CSTNode, rule: Rule) -> str:
        """Return what a marker at a reference says."""
        return MESSAGE.format(name=self._file.name(node), title=rule.title)
