"""Shows what public classes have from private ones as their own: the private ones have no place."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

import griffe

from docs._site.griffe_objects import objects_in
from docs._site.public_names import definition_of
from docs._site.reference_pages import documented

# Below this name the templates find what is added here.
_EXTRA: Final = "typed_nnx_bases"


class PrivateBases(griffe.Extension):
    """Gives public classes the members of their private bases, and names the public ones."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at the classes of a package that has been read."""
        del kwargs
        public = {definition_of(name) for name in documented().values()}
        for found in list(objects_in(pkg)):
            if isinstance(found, griffe.Class) and found.path in public:
                for member in _from_private(found, public):
                    if member.name not in found.members:
                        own = copy.copy(member)
                        own.parent = found
                        found.members[member.name] = own
                found.extra[_EXTRA]["shown"] = [
                    base for base in found.bases if _is_shown(base, public)
                ]


def _from_private(found: griffe.Class, public: set[str]) -> Iterator[griffe.Object]:
    """Yield the public members of the private bases of a class, the nearest first."""
    for base in found.resolved_bases:
        if isinstance(base, griffe.Class) and base.path not in public:
            for member in base.members.values():
                if isinstance(member, griffe.Object) and not member.name.startswith("_"):
                    yield member
            yield from _from_private(base, public)


def _is_shown(base: str | griffe.Expr, public: set[str]) -> bool:
    path = base if isinstance(base, str) else base.canonical_path
    return not path.startswith("typed_nnx") or definition_of(path) in public
