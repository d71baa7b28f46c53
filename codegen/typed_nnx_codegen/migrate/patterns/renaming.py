"""What rules have in common that only give a name of NNX another name."""

from __future__ import annotations

import libcst as cst

from typed_nnx_codegen.migrate.analysis.imports import absolute_module
from typed_nnx_codegen.migrate.analysis.values import NNX, public_name
from typed_nnx_codegen.migrate.import_statements import without_twins
from typed_nnx_codegen.migrate.registry import Rule


class Renaming(Rule):
    """Renames names of NNX: attributes of the package, and names imported from it.

    `names` has the old names and the new ones; a new name with a dot that begins with another
    package (``jax.lax.with_sharding_constraint``) is imported.
    """

    def leave_Attribute(
        self, original: cst.Attribute, updated: cst.Attribute
    ) -> cst.BaseExpression:
        """Rename ``nnx.Old``."""
        new = self.new_name(original)
        if not new or not self.file.name(original.value):
            return updated
        if "." in new:
            return self.file.refer(new)
        return updated.with_changes(attr=updated.attr.with_changes(value=new))

    def leave_Name(self, original: cst.Name, updated: cst.Name) -> cst.BaseExpression:
        """Rename a name that is imported from NNX."""
        new = self.new_name(original)
        if not new:
            return updated
        binding = self.file.scope.import_of(original.value)
        if binding is None or not binding.is_from or binding.has_alias:
            return updated
        if public_name(binding.module) != NNX:
            # The project's own name for it: another file has to change first.
            return updated
        if "." in new:
            return self.file.refer(new)
        renamed = self.file.names.renamed.get(original.value)
        return updated.with_changes(value=renamed) if renamed == new else updated

    def leave_ImportFrom(self, original: cst.ImportFrom, updated: cst.ImportFrom) -> cst.ImportFrom:
        """Rename what a statement imports from NNX."""
        module = absolute_module(original, self.file.analysis.module, self.file.analysis.is_package)
        if isinstance(updated.names, cst.ImportStar) or public_name(module) != NNX:
            return updated
        names = [self._renamed(alias) for alias in updated.names]
        if all(one is other for one, other in zip(names, updated.names, strict=True)):
            return updated
        return updated.with_changes(names=without_twins(names, updated))

    def _renamed(self, alias: cst.ImportAlias) -> cst.ImportAlias:
        old = alias.evaluated_name
        new = self.names.get(old)
        if new is None or "." in new:
            return alias
        if alias.asname is not None or old in self.file.names.renamed:
            return alias.with_changes(name=cst.Name(new))
        if old in self.file.names.kept:
            asname = cst.AsName(cst.Name(old))
            return alias.with_changes(name=cst.Name(new), asname=asname)
        return alias

    def new_name(self, node: cst.BaseExpression) -> str:
        """Return the new name of what a node refers to; empty where it is none of the old ones."""
        public = self.file.name(node)
        return self.names.get(public.removeprefix(f"{NNX}."), "") if public else ""
