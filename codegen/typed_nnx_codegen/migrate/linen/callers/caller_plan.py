"""What is written differently in a file, outside of modules."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.plan import Mark


@dataclass(eq=False)
class CallerPlan:
    """What is written differently in a file, outside of modules.

    Attributes:
        code: New code for expressions.
        before: Lines to put above statements.
        removed: Statements that go; what stands above them in their place stays.
        marks: What is left to a person.
        helpers: Definitions that the file needs at its top level.
    """

    code: dict[cst.CSTNode, str] = field(default_factory=dict)
    before: dict[cst.CSTNode, list[str]] = field(default_factory=dict)
    removed: set[cst.CSTNode] = field(default_factory=set)
    marks: list[Mark] = field(default_factory=list)
    helpers: dict[Helper, None] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether the file stays as it is."""
        return not (self.code or self.before or self.removed or self.marks)
