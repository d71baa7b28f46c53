"""The names that rewritten code uses: those that a file has, and those that it is to import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import read_names
from typed_nnx_codegen.migrate.analysis.values import (
    NNX,
    External,
    ImportBinding,
    Scope,
    public_name,
    resolved,
)
from typed_nnx_codegen.migrate.options import FLAX_NNX, Options

# What a module is called where it is imported; the last part of its name where this has nothing.
_USUAL: Final = {"jax.numpy": "jnp"}


class Names:
    """Finds names, and remembers which imports a file needs.

    Args:
        analysis: What is bound in the file.
        options: What the migration is asked to do.

    Attributes:
        before: The names in the code of the file, before anything is rewritten.
        added: The statements to add, by the name that each binds.
        renamed: New names of imported names, by the name before.
        kept: Imported names that keep their local name, with what they are imported as.
    """

    def __init__(self, analysis: Analysis, options: Options) -> None:
        self._analysis = analysis
        self._options = options
        bound = (name for scope in self._scopes() for name in scope.seen)
        self.before = read_names(analysis.tree)
        self._used = frozenset((*self.before, *bound))
        self.added: dict[str, str] = {}
        self.renamed: dict[str, str] = {}
        self.kept: dict[str, str] = {}
        self._bound: dict[tuple[str, Scope], str | None] = {}

    # -- names to write -----------------------------------------------------------------------

    def refer(self, public: str, scope: Scope) -> cst.BaseExpression:
        """Return an expression for a public name, as seen from a scope; it is imported if need be."""
        found = self.find(public, scope)
        if found is not None:
            return found
        module, _, name = public.rpartition(".")
        if not module:
            return cst.Name(self._import_module(public))
        return cst.Attribute(self.refer(module, scope), cst.Name(name))

    def find(self, public: str, scope: Scope) -> cst.BaseExpression | None:
        """Return an expression for a public name from what is imported; None where there is none."""
        direct = self._bound_to(public, scope)
        if direct is not None:
            return cst.Name(direct)
        module, _, name = public.rpartition(".")
        found = self.find(module, scope) if module else None
        return None if found is None else cst.Attribute(found, cst.Name(name))

    def _bound_to(self, public: str, scope: Scope) -> str | None:
        """Return a local name that an import binds to a public name, the usual one first."""
        if (public, scope) in self._bound:
            return self._bound[public, scope]
        found = [
            binding.local
            for binding in _visible(scope)
            if self._full(binding) == public
            and scope.import_of(binding.local) is binding
            and not binding.is_apart
        ]
        usual = _USUAL.get(public, public.rpartition(".")[2])
        # Else the one that is imported nearest and first.
        local = min(found, key=lambda name: name != usual, default=None)
        self._bound[public, scope] = local
        return local

    def _full(self, binding: ImportBinding) -> str:
        if not binding.is_from and not binding.has_alias:
            return binding.local
        return public_name(binding.full)

    def _import_module(self, module: str) -> str:
        """Return the name of a module that the file is to import."""
        if module == NNX:
            if self._options.target == FLAX_NNX:
                local = NNX if self._is_nnx_everywhere(NNX) else self._free(NNX, "flax_nnx")
                statement = f"from flax import nnx{'' if local == NNX else f' as {local}'}"
            else:
                local = NNX if self._is_nnx_everywhere(NNX) else self._free(NNX, "typed_nnx")
                alias = "" if local == "typed_nnx" else f" as {local}"
                statement = f"import typed_nnx{alias}"
        else:
            local = self._free(module, f"{module}_module")
            statement = f"import {module}{'' if local == module else f' as {local}'}"
        self.added[local] = statement
        return local

    def _is_nnx_everywhere(self, name: str) -> bool:
        """Whether a name is of NNX in each scope that binds it, though not all code may have it."""
        is_bound = any(name in scope.seen for scope in self._scopes())
        return is_bound and not self._is_taken(name, NNX)

    def _free(self, *candidates: str) -> str:
        for candidate in candidates:
            if candidate in self.added or candidate not in self._used:
                return candidate
        return f"_{candidates[0]}"

    # -- names that change --------------------------------------------------------------------

    def plan_renames(self, names: dict[str, str]) -> None:
        """Decide which imported names are renamed everywhere, and which keep their local name.

        Args:
            names: Older names of NNX without the package, and their new names.
        """
        exported = set(self._analysis.exported() or ())
        for binding in self._imported():
            old = public_name(binding.full).removeprefix(f"{NNX}.")
            new = names.get(old)
            if new is None or "." in new:
                continue
            if binding.has_alias:
                continue
            if (
                binding.local in exported
                or binding.local not in self.read
                or self._is_taken(new, f"{NNX}.{new}")
                or self._is_taken(binding.local, public_name(binding.full))
            ):
                self.kept[binding.local] = new
            else:
                self.renamed[binding.local] = new

    @property
    def read(self) -> frozenset[str]:
        """The names that expressions of the file read."""
        return frozenset(node.value for node in self._analysis.known.of(cst.Name))

    def _is_taken(self, name: str, public: str) -> bool:
        """Whether a scope binds a name to something else than a public name."""
        found = [resolved(scope.seen[name]) for scope in self._scopes() if name in scope.seen]
        return any(not (isinstance(one, External) and one.public == public) for one in found)

    def _imported(self) -> Iterator[ImportBinding]:
        for scope in self._scopes():
            for binding in scope.imports.values():
                if binding.is_from and public_name(binding.module) == NNX:
                    yield binding

    def _scopes(self) -> Iterator[Scope]:
        yield self._analysis.scope
        yield from self._analysis.scopes.values()


def _visible(scope: Scope) -> Iterator[ImportBinding]:
    inner: Scope | None = scope
    while inner is not None:
        if inner is scope or inner.kind != "class":
            yield from inner.imports.values()
        inner = inner.parent
