"""The variables of a module: where Linen has them, and where the new model has them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.linen.layers import Given, find_layer
from typed_nnx_codegen.migrate.linen.lists.field_containers import LIST, held_containers
from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.modules.other_classes import entries_of_others
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Entry, Site, given_of
from typed_nnx_codegen.migrate.linen.running.frames import Recorder
from typed_nnx_codegen.migrate.linen.running.references import (
    ClassRef,
    FieldModule,
    ModuleValue,
    Ref,
)
from typed_nnx_codegen.migrate.linen.running.values import Const
from typed_nnx_codegen.migrate.linen.state.detached_layers import entries_of_drawn
from typed_nnx_codegen.migrate.linen.transforms.constructing import stacked_entry

_LETTERS = "ijklmnopq"


def entries_of(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> list[Entry]:
    """Return the variables of a module, those of its submodules too."""
    found: dict[str, Entry] = {}
    scopes = _shared_scopes(recorder.plan.sites, plan_of)
    clashing: dict[str, Site] = {}
    for site in recorder.plan.sites:
        for entry in _of_site(site, plan_of, scopes.get(site)):
            if site.shares and _is_taken(entry, found):
                message = "the names of its variables are those of another submodule"
                recorder.mark(site.node, message, NAME)
            other = found.setdefault(entry.linen, entry).to or ""
            if other != entry.to and other.startswith(f"{site.attribute}.") and site not in scopes:
                clashing[f"{entry.linen.partition('/')[0]}/{site.linen}"] = site
        for entry in entries_of_drawn(site, recorder):
            found.setdefault(entry.linen, entry)
    for linen, site in clashing.items():
        _by_class(linen, site, found, recorder)
    for one in recorder.variables.values():
        linen = f"{one.collection}/{one.linen}"
        found.setdefault(linen, Entry(linen, one.attribute))
    for entry in recorder.plan.others:
        found.setdefault(entry.linen, entry)
    for entry in entries_of_others(recorder.plan.sites):
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
            is_shared = value.name == recorder.plan.shared
            for entry in _of_field(value, plan_of, is_shared=is_shared):
                found.setdefault(entry.linen, entry)
    for entry in _in_containers(recorder.plan.cls):
        found.setdefault(entry.linen, entry)
    return list(found.values())


def _by_class(linen: str, site: Site, found: dict[str, Entry], recorder: Recorder) -> None:
    """Let the class of a submodule say where its variables are: it is one of several classes."""
    below = [entry for path, entry in found.items() if path.startswith(f"{linen}/")]
    inside = f"{site.attribute}."
    if not all(entry.to and entry.to.startswith(inside) and not entry.change for entry in below):
        message = "where its variables are in NNX depends on which of several classes it is of"
        recorder.mark(site.node, message, NAME)
        return
    for entry in below:
        del found[entry.linen]
    found[linen] = Entry(linen, site.attribute)


def _is_taken(entry: Entry, found: Mapping[str, Entry]) -> bool:
    """Whether a name that is computed has an entry that leads elsewhere."""
    other = found.get(entry.linen)
    return "{" in entry.linen and other is not None and other.to != entry.to


def _in_containers(cls: LinenClass) -> Iterator[Entry]:
    """Yield the modules in the lists and dicts that fields hold."""
    for name, kind in held_containers(cls).items():
        part = "{i}" if kind == LIST else "{key}"
        for collection in ("params", "batch_stats"):
            yield Entry(f"{collection}/{name}_{part}", f"{name}.{part}")


def _shared_scopes(
    sites: Sequence[Site], plan_of: Callable[[LinenClass], ClassPlan]
) -> dict[Site, str]:
    """Return the names in Linen of submodules that share theirs with one that they are given."""
    found: dict[Site, str] = {}
    for site in sites:
        shared = plan_of(site.target).shared if isinstance(site.target, LinenClass) else ""
        given = site.given.get(shared)
        match given.value if given is not None else None:
            case ModuleValue(site=inner) if inner.is_nested:
                found[inner] = found.get(site, site.linen)
            case ModuleValue(site=inner):
                found[site] = found.get(inner, inner.linen)
            case FieldModule(name=name):
                found[site] = name
    return found


def _of_site(
    site: Site, plan_of: Callable[[LinenClass], ClassPlan], scope: str | None = None
) -> Iterator[Entry]:
    if not (site.linen or site.shares) or not site.attribute:
        return
    if site.is_bridged:
        # The bridge has the variables by the names of Linen, of all collections.
        yield Entry(f"params/{site.linen}", site.attribute)
        return
    names = (site.linen, *site.aliases) if scope is None else (scope,)
    for name in ("",) if site.shares else names:
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
        texts = _texts_of(target, site)
        for entry in plan_of(target).entries:
            yield _prefixed(_with_texts(entry, texts), linen, attribute)
        return
    layer = find_layer(target)
    if layer is None:
        return
    for one in layer.variables(_settings(site) if site is not None else {}):
        change = {
            key: value
            for key, value in (("transpose", one.transpose), ("reshape", one.reshape))
            if value is not None
        }
        yield _prefixed(Entry(one.linen, one.nnx, change), linen, attribute)


def _texts_of(target: LinenClass, site: Site | None) -> dict[str, str]:
    """Return the texts that fields of a submodule hold, where it is known."""
    found: dict[str, str] = {}
    for one in target.fields():
        given = site.given.get(one.name) if site is not None else None
        value: object = None
        if given is not None:
            value = given.value.value if isinstance(given.value, Const) else None
        elif isinstance(one.default, cst.SimpleString) and site is not None and not site.is_open:
            value = one.default.evaluated_value
        if isinstance(value, str):
            found[one.name] = value
    return found


def _with_texts(entry: Entry, texts: Mapping[str, str]) -> Entry:
    """Return an entry with the texts of fields that name a variable."""

    def written(match: re.Match[str]) -> str:
        return texts.get(match[1], match[0])

    linen = re.sub(r"\{(\w+)\}", written, entry.linen)
    if linen == entry.linen or entry.to is None:
        return entry
    return Entry(linen, re.sub(r"\{(\w+)\}", written, entry.to), entry.change)


def _settings(site: Site) -> dict[str, Given]:
    """Return the settings of a layer that are its own: what a field holds may have others."""
    given = given_of(site)
    if not site.code.startswith("self."):
        return given
    return {name: one for name, one in given.items() if not site.given[name].hidden}


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


def _of_field(
    value: FieldModule, plan_of: Callable[[LinenClass], ClassPlan], *, is_shared: bool
) -> Iterator[Entry]:
    linen = "" if is_shared else value.name
    match value.default:
        case ClassRef(cls=cls):
            yield from _below(cls, linen, value.name, None, plan_of)
        case Ref(name=name):
            yield from _below(name, linen, value.name, None, plan_of)
    if is_shared:
        # All that no other entry is for.
        yield Entry("{collection}", value.name)
        return
    for collection in ("params", "batch_stats"):
        yield Entry(f"{collection}/{value.name}", value.name)
