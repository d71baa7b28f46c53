"""Writes the pages of the API reference; the engine fills them from the docstrings."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from docs._site.jax_functions import COMPUTES, call_of
from docs._site.public_names import (
    definition_of,
    file_of,
    names_of,
    public_modules,
    read_module,
)
from docs._site.reference_names import PAGES, Page, full_name

_ERRORS = "typed_nnx.errors"
_INDEX = """\
# API reference

What `import typed_nnx as nnx` gives, by meaning, with the types that the source and the stubs have. A name
stands here once, whatever modules it can be imported from: [modules](modules.md) lists those.
"""
_MODULES = """\
# Modules

The modules that can be imported, and what each has. What begins with an underscore is not part of the API.
"""


@functools.cache
def pages() -> tuple[Page, ...]:
    """Return the pages with names, that of the exceptions among them."""
    return (*PAGES, _errors())


def _errors() -> Page:
    """Return the page of the exceptions, with the headings that its comments have."""
    file = file_of(_ERRORS)
    assert file is not None
    parts: dict[str, str] = {}
    for part in re.split(r"^# -- ", file.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        title = part.partition(" --")[0]
        names = re.findall(r"^from .* as (\w+)$", part, flags=re.MULTILINE)
        parts[title[0].upper() + title[1:]] = " ".join(f"errors.{name}" for name in names)
    text = (
        "`nnx.errors`: every exception of the runtime. The arguments of an exception are the facts, "
        "its text says how to go on. [The guide](../guides/errors.md) has them by situation."
    )
    return Page("errors", "Exceptions", text, parts)


@functools.cache
def documented() -> dict[str, str]:
    """Return the name that the reference has, by every public name of the runtime."""
    shown = {definition_of(name): name for page in pages() for name in page.names()}
    found = {name: name for name in shown.values()}
    for module in public_modules():
        for name in names_of(module):
            definition = definition_of(f"{module}.{name}")
            if definition in shown:
                found[f"{module}.{name}"] = shown[definition]
    return found


def render(page: Page) -> str:
    """Return a page."""
    return "\n".join([f"# {page.title}\n\n{page.text}\n", *_parts(page)])


def _parts(page: Page) -> Iterator[str]:
    for title, names in page.parts.items():
        if title:
            yield f"## {title}\n"
        for name in names.split():
            yield _entry(full_name(name), level=3 if title else 2)


def _entry(name: str, level: int) -> str:
    definition = definition_of(name)
    if file_of(definition.rpartition(".")[0]) is None:
        return _of_jax(name, definition, level)
    return f"::: {name}\n    options:\n      heading_level: {level}\n"


def _of_jax(name: str, definition: str, level: int) -> str:
    last = name.rpartition(".")[2]
    return (
        f'{"#" * level} <code class="doc-symbol doc-symbol-heading doc-symbol-function"></code>'
        f' <span class="doc-object-name">{last}</span> {{ #{name} .doc-heading }}\n\n'
        f"```python\n{call_of(definition, last)}\n```\n\n"
        f"{COMPUTES[last]} It is `{definition}`.\n"
    )


def index() -> str:
    """Return the first page of the reference: all pages with all their names."""
    rows = [
        f"## [{page.title}]({page.file}.md)\n\n"
        + " · ".join(f"[`{name.rpartition('.')[2]}`][{name}]" for name in page.names())
        + "\n"
        for page in pages()
    ]
    return "\n".join([_INDEX, *rows])


def modules() -> str:
    """Return the page of the modules: what can be imported from each."""
    return "\n".join([_MODULES, *(_module(module) for module in public_modules())])


def _module(module: str) -> str:
    lines = [f"## `{module}` {{ #{module} }}\n", f"{read_module(module).summary}\n"]
    if module == "typed_nnx":
        lines.append("Its names are those of [the reference](index.md).\n")
        return "\n".join(lines)
    names = names_of(module)
    known = [name for name in names if f"{module}.{name}" in documented()]
    inner = [name for name in names if file_of(definition_of(f"{module}.{name}"))]
    if inner:
        links = (f"[`{name}`](#{definition_of(f'{module}.{name}')})" for name in inner)
        lines.append(f"Modules: {', '.join(links)}.\n")
    if known:
        lines.append(" · ".join(_anchored(f"{module}.{name}") for name in known) + "\n")
    return "\n".join(lines)


def _anchored(path: str) -> str:
    """Return a link to a name, and an anchor for the path that it is imported by here."""
    target = documented()[path]
    anchor = "" if target == path else f'<span id="{path}"></span>'
    return f"{anchor}[`{path.rpartition('.')[2]}`][{target}]"
