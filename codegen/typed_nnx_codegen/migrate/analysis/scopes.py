"""Scopes: which names are bound where, and to what."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from typed_nnx_codegen.migrate.analysis.values import (
    NOTHING,
    ProjectClass,
    ProjectFunction,
    Value,
    join,
)


@dataclass(frozen=True)
class ImportBinding:
    """A name that an import statement binds.

    Attributes:
        local: The name.
        full: What it stands for, dotted: ``flax.nnx.Param``.
        module: The module that the statement names, dotted: the one that has the name.
        imported: The name after ``import``, as the statement spells it.
        has_alias: Whether the statement says ``as``.
        is_from: Whether it is ``from ... import ...``.
        is_apart: Whether it is for type checkers or for the main module only: code elsewhere may
            not have the name when it runs.
    """

    local: str
    full: str
    module: str
    imported: str
    has_alias: bool
    is_from: bool
    is_apart: bool = False


@dataclass(eq=False)
class Scope:
    """The names of a module, class, function, lambda or comprehension.

    Attributes:
        kind: What it is of.
        parent: The scope around it.
        now: What each name is bound to where the analysis stands.
        seen: All that each name was bound to, in this round of the analysis.
        before: The same in the round before; complete, so nested functions look here.
        imports: The names that imports bind.
        outer: Names declared ``global`` or ``nonlocal``, with the scope that has them.
        shared: Names of it that functions assign with ``global`` or ``nonlocal``, at any time.
        narrowed: What an ``isinstance`` around says of a dotted name.
        function: The function whose scope it is.
        owner: The class whose scope it is.
    """

    kind: Literal["module", "class", "function", "comprehension"]
    parent: Scope | None = None
    now: dict[str, Value] = field(default_factory=dict)
    seen: dict[str, Value] = field(default_factory=dict)
    before: dict[str, Value] = field(default_factory=dict)
    imports: dict[str, ImportBinding] = field(default_factory=dict)
    outer: dict[str, Scope] = field(default_factory=dict)
    shared: set[str] = field(default_factory=set)
    narrowed: dict[str, Value] = field(default_factory=dict)
    function: ProjectFunction | None = None
    owner: ProjectClass | None = None

    def bind(self, name: str, value: Value) -> None:
        """Bind a name."""
        scope = self.outer.get(name, self)
        if scope is not self:
            scope.shared.add(name)
        scope.now[name] = value
        scope.seen[name] = join(scope.seen.get(name, NOTHING), value)
        for dotted in [key for key in self.narrowed if key.split(".")[0] == name]:
            del self.narrowed[dotted]

    def bind_import(self, binding: ImportBinding, value: Value) -> None:
        """Bind a name that an import statement binds."""
        self.outer.get(binding.local, self).imports[binding.local] = binding
        self.bind(binding.local, value)

    def owner_of(self, name: str) -> Scope | None:
        """Return the scope that a name is bound in, as seen from here; None for builtins."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.outer:
                return scope.outer[name]
            visible = scope is self or scope.kind != "class"
            if visible and (name in scope.seen or name in scope.before or name in scope.now):
                return scope
            scope = scope.parent
        return None

    def lookup(self, name: str) -> Value | None:
        """Return what a name stands for here; None where nothing binds it."""
        owner = self.owner_of(name)
        if owner is None:
            return None
        if self._runs_with(owner):
            value = owner.now.get(name)
            if value is not None:
                later = owner.before.get(name, NOTHING) if name in owner.shared else NOTHING
                return join(value, later)
        # The body of a function runs later than the statements around it.
        return owner.before.get(name, owner.seen.get(name, NOTHING))

    def _runs_with(self, owner: Scope) -> bool:
        """Whether the code of this scope runs where the code of another one stands."""
        scope: Scope | None = self
        while scope is not None and scope is not owner:
            if scope.kind == "function":
                return False
            scope = scope.parent
        return True

    def next_round(self) -> None:
        """Start the next round: what was seen is complete now."""
        self.before = self.seen
        self.now = {}
        self.seen = {}
        self.narrowed = {}

    def import_of(self, name: str) -> ImportBinding | None:
        """Return the import that binds a name, as seen from here."""
        owner = self.owner_of(name)
        return owner.imports.get(name) if owner is not None else None
