"""Where annotations and docstrings find the names that they mention."""

from __future__ import annotations

from typing import Any

import griffe

from docs._site.public_names import names_of

_ERRORS = "typed_nnx.errors"


class NameScopes(griffe.Extension):
    """Corrects what a name means: griffe looks for it in all packages around the module."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Change what the package says it has."""
        del kwargs
        if pkg.path != "typed_nnx":
            return
        # The older name of a module: in annotations `object` is the builtin.
        pkg.members.pop("object", None)
        # What a docstring says is raised need not be imported there.
        for name in names_of(_ERRORS):
            pkg.members.setdefault(name, griffe.Alias(name, f"{_ERRORS}.{name}", parent=pkg))
