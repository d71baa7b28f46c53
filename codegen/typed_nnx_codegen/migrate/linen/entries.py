"""The variables of a module: where Linen has them, and where the new model has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from typed_nnx_codegen.migrate.linen.classes import LinenClass
from typed_nnx_codegen.migrate.linen.field_containers import LIST, held_containers
from typed_nnx_codegen.migrate.linen.frames import Recorder
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.module_calls import given_of
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Entry, Site
from typed_nnx_codegen.migrate.linen.references import ClassRef, FieldModule, Ref
from typed_nnx_codegen.migrate.linen.transforms.constructing import stacked_entry

_LETTERS = "ijklmnopq"


def entries_of(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> list[Entry]:
    """Return the variables of a module, those of its submodules too."""
    found: dict[str, Entry] = {}
    for site in recorder.plan.sites:
        for entry in _of_site(site, plan_of):
            found.setdefault(entry.linen, entry)
    for one in recorder.variables.values():
        linen = f"{one.collection}/{one.linen}"
        found.setdefault(linen, Entry(linen, one.attribute))
    for entry in recorder.plan.others:
        found.setdefault(entry.linen, entry)
    instance = recorder.instance
    held = [] if instance is None else [*instance.fields.values()]
    held += (
        []
        if instance is None
        else [
            value
            for name, value in instance.attributes.items()
            if isinstance(value, FieldModule) and value.name == name
        ]
    )
    for value in held:
        if isinstance(value, FieldModule):
            for entry in _of_field(value, plan_of):
                found.setdefault(entry.linen, entry)
    for entry in _in_containers(recorder.plan.cls):
        found.setdefault(entry.linen, entry)
    return list(found.values())


def _in_containers(cls: LinenClass) -> Iterator[Entry]:
    """Yield the modules in the lists and dicts that fields hold."""
    for name, kind in held_containers(cls).items():
        part = "{i}" if kind == LIST else "{key}"
        for collection in ("params", "batch_stats"):
            yield Entry(f"{collection}/{name}_{part}", f"{name}.{part}")


def _of_site(site: Site, plan_of: Callable[[LinenClass], ClassPlan]) -> Iterator[Entry]:
    if not (site.linen or site.shares) or not site.attribute:
        return
    if site.is_bridged:
        # The bridge has the variables by the names of Linen, of all collections.
        yield Entry(f"params/{site.linen}", site.attribute)
        return
    for name in ("",) if site.shares else (site.linen, *site.aliases):
        for entry in _below(site.target, name, site.attribute, site, plan_of):
            yield stacked_entry(entry, site)
    for other in site.alternatives:
        name = site.explicit or site.linen.replace(site.class_name, other.class_name, 1)
        for entry in _below(other.target, name, site.attribute, other, plan_of):
            yield stacked_entry(entry, site)


def _below(
    target: str | LinenClass,
    linen: str,
    attribute: str,
    site: Site | None,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Iterator[Entry]:
    if isinstance(target, LinenClass):
        for entry in plan_of(target).entries:
            yield _prefixed(entry, linen, attribute)
        return
    layer = find_layer(target)
    if layer is None:
        return
    for one in layer.variables(given_of(site) if site is not None else {}):
        change = {
            key: value
            for key, value in (("transpose", one.transpose), ("reshape", one.reshape))
            if value is not None
        }
        yield _prefixed(Entry(one.linen, one.nnx, change), linen, attribute)


def _prefixed(entry: Entry, linen: str, attribute: str) -> Entry:
    used = set(re.findall(r"\{(\w+)\}", linen))
    names = set(re.findall(r"\{(\w+)\}", entry.linen))
    renamed: dict[str, str] = {}
    free = (letter for letter in _LETTERS if letter not in used and letter not in names)
    for name in sorted(names & used):
        renamed[name] = next(free)

    def rename(text: str) -> str:
        return re.sub(r"\{(\w+)\}", lambda match: f"{{{renamed.get(match[1], match[1])}}}", text)

    collection, _, rest = rename(entry.linen).partition("/")
    path = "/".join(part for part in (collection, linen, rest) if part)
    to = None if entry.to is None else f"{attribute}.{rename(entry.to)}" if entry.to else attribute
    return Entry(path, to, entry.change)


def _of_field(value: FieldModule, plan_of: Callable[[LinenClass], ClassPlan]) -> Iterator[Entry]:
    match value.default:
        case ClassRef(cls=cls):
            yield from _below(cls, value.name, value.name, None, plan_of)
        case Ref(name=name):
            yield from _below(name, value.name, value.name, None, plan_of)
    for collection in ("params", "batch_stats"):
        yield Entry(f"{collection}/{value.name}", value.name)
