"""Makes Markdown of docstrings: doctests as code, names as links."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import griffe

from docs._site.griffe_objects import objects_in
from docs._site.name_links import link_names
from docs._site.reference_pages import documented

# The lines of a session: from a prompt to the next line that is empty.
_SESSION: Final = re.compile(r"^( *)>>> .*(?:\n(?! *\n) *\S.*)*", flags=re.MULTILINE)


class DocstringMarkdown(griffe.Extension):
    """Rewrites the docstrings of a package, and hides attributes that only repeat parameters."""

    def on_package(self, *, pkg: griffe.Module, **kwargs: Any) -> None:
        """Look at all that has been read."""
        del kwargs
        for each in [pkg, *objects_in(pkg)]:
            if each.docstring is not None:
                each.docstring.value = link_names(
                    _SESSION.sub(_fenced, each.docstring.value), _names_seen_from(each)
                )
            if isinstance(each, griffe.Class):
                _hide_repeated(each)


def _fenced(session: re.Match[str]) -> str:
    indent = session[1]
    return f"{indent}```pycon\n{session[0]}\n{indent}```"


def _names_seen_from(where: griffe.Object) -> Callable[[str], str | None]:
    """Return what finds the full name of a name in a docstring; its own names come first."""
    local = set(_own_names(where))

    def target_of(name: str) -> str | None:
        if name in local or name.partition(".")[0] in local:
            return None
        return documented().get(f"typed_nnx.{name.removeprefix('nnx.')}")

    return target_of


def _own_names(where: griffe.Object) -> Iterator[str]:
    if isinstance(where, griffe.Function):
        yield from (parameter.name.lstrip("*") for parameter in where.parameters)
    if isinstance(where, griffe.Class):
        yield from where.members
        for method in where.members.values():
            if isinstance(method, griffe.Function):
                yield from (parameter.name.lstrip("*") for parameter in method.parameters)
    if not isinstance(where, griffe.Module):
        yield where.name
        if isinstance(where.parent, griffe.Class):
            yield from _own_names(where.parent)


def _hide_repeated(found: griffe.Class) -> None:
    """Hide attributes that the docstring lists, and those that methods set from parameters."""
    # What the docstring lists takes its types from the attributes: it is parsed before they go.
    sections = found.docstring.parsed if found.docstring is not None else []
    listed = {
        attribute.name
        for section in sections
        if isinstance(section, griffe.DocstringSectionAttributes)
        for attribute in section.value
    }
    for name, member in list(found.members.items()):
        if isinstance(member, griffe.Attribute) and member.docstring is None:
            # griffe remembers the last assignment only, which may stand in a method.
            declared = re.search(rf"^    {name}\b *[:=]", found.source, flags=re.MULTILINE)
            if name in listed or not declared:
                del found.members[name]
