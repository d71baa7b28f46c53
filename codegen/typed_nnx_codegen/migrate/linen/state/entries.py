"""The variables of a module: where Linen has them, where the new model has them, who asks for them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    ClassPlan,
    Entry,
    Site,
    given_of,
    linen_class_name,
)
from typed_nnx_codegen.migrate.linen.domain.classes import LINEN, LinenClass
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Declare,
    Frame,
    Line,
    Recorder,
    Sow,
    StateAccess,
)
from typed_nnx_codegen.migrate.linen.domain.markers import CALL, NAME
from typed_nnx_codegen.migrate.linen.domain.references import (
    ClassRef,
    FieldModule,
    ModuleValue,
    Ref,
)
from typed_nnx_codegen.migrate.linen.domain.values import Array, Const
from typed_nnx_codegen.migrate.linen.layers import Given, find_layer
from typed_nnx_codegen.migrate.linen.project.fields import LIST, held_containers
from typed_nnx_codegen.migrate.linen.state.declaring import Declaring, FirstValues
from typed_nnx_codegen.migrate.linen.state.reads import entries_of_drawn
from typed_nnx_codegen.migrate.linen.transforms.stacked_submodules import stacked_entry
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

# Layers that one field may hold, since they are constructed and called alike.
_ALIKE: Final = (
    ("LayerNorm", "RMSNorm", "GroupNorm", "BatchNorm", "InstanceNorm"),
    ("Dense", "DenseGeneral"),
)


def entries_of_others(sites: Sequence[Site]) -> Iterator[Entry]:
    """Yield where the variables of other layers are, which fields may hold instead."""
    counted = {linen_class_name(one) for site in sites for one in (site, *site.alternatives)}
    for site in sites:
        is_held = site.code.startswith("self.") and site.linen and site.attribute
        if not is_held or site.explicit or site.transforms or site.stacks or site.is_bridged:
            continue
        name = linen_class_name(site)
        family = next((names for names in _ALIKE if name in names), ())
        for other in family:
            if other not in counted:
                linen = site.linen.replace(name, other, 1)
                yield from _entries(f"{LINEN}.{other}", linen, site.attribute)


def _entries(public: str, linen: str, attribute: str) -> Iterator[Entry]:
    layer = find_layer(public)
    if layer is None:
        return
    for one in layer.variables({}):
        collection, _, name = one.linen.partition("/")
        yield Entry(f"{collection}/{linen}/{name}", f"{attribute}.{one.nnx}")


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
    for linen, one in recorder.variables.items():
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


class StateAccesses:
    """Rewrites what asks for variables by name.

    Args:
        code: Writes expressions for the constructor.
        first_values: Finds first values of variables.
        declaring: Declares variables.
        frame: A frame of the module that is planned.
    """

    def __init__(
        self,
        code: ConstructorCode,
        first_values: FirstValues,
        declaring: Declaring,
        frame: Frame,
    ) -> None:
        self._code = code
        self._first_values = first_values
        self._declaring = declaring
        self._frame = frame
        self._recorder = frame.recorder

    def run(self) -> None:
        """Rewrite them."""
        self._make_written()
        variables = self._recorder.variables
        for access in self._recorder.log.of(StateAccess):
            site = variables.get(f"{access.collection}/{access.name}")
            if site is None:
                self._unknown(access)
            elif access.method == "has_variable":
                self._has(access, site)
            elif access.method == "put_variable":
                self._put(access, site)
            else:
                self._get(access, site)
        self._name_sown()
        for method in self._recorder.plan.cls.methods().values():
            if method.is_bound:
                _read_params(method.node, self._recorder)

    def _unknown(self, access: StateAccess) -> None:
        self._recorder.mark(
            access.node,
            f"`{access.method}` of a variable that this module does not declare",
            NAME,
        )

    # -- variables that are only written ------------------------------------------------------

    def _make_written(self) -> None:
        """Make the variables that `put_variable` alone declares."""
        for access in self._recorder.log.of(StateAccess):
            key = f"{access.collection}/{access.name}"
            is_new = key not in self._recorder.variables and access.name
            if access.method != "put_variable" or not is_new:
                continue
            with self._code.with_shapes():
                zeros = self._first_values.zeros(access.value, self._frame)
            if zeros is None:
                continue
            attribute = self._declaring.free(access.name, self._recorder, access.collection)
            made = f"{self._declaring.kind(access.collection)}({zeros})"
            self._recorder.block.append(Line(f"self.{attribute} = {made}"))
            self._recorder.log.append(Declare(key, attribute, access.value, around=()))

    # -- questions ----------------------------------------------------------------------------

    def _has(self, access: StateAccess, site: Declare) -> None:
        if site.later:
            self._recorder.replace(access.node, f"(self.{site.attribute} is not None)")
            return
        every = self._recorder.log.about(Declare, site.key)
        declared = [one.around for one in every if one.around is not None]
        calls = [one.calls for one in every if one.calls is not None] or [()]
        asked = [one for one in access.conditions if one.is_of_call]
        if not any(all(one in asked for one in each) for each in calls):
            self._recorder.mark(
                access.node, "whether Linen has this variable depends on its first call", CALL
            )
        if any(all(one in access.conditions for one in each) for each in declared):
            self._recorder.replace(access.node, "True")
        else:
            self._recorder.replace(access.node, f"hasattr(self, {site.attribute!r})")

    def _put(self, access: StateAccess, site: Declare) -> None:
        value = _argument(access.node, "value", 2)
        if value is None:
            self._unknown(access)
            return
        self._recorder.replace(access.node, _Written(f"self.{site.attribute}.set_value"))

    def _get(self, access: StateAccess, site: Declare) -> None:
        where = f"self.{site.attribute}"
        if access.method == "variable":
            self._recorder.replace(access.node, where)
            return
        reading = "[...]" if isinstance(site.value, Array) else ".get_value()"
        self._recorder.replace(access.node, f"{where}{reading}")

    # -- sown values --------------------------------------------------------------------------

    def _name_sown(self) -> None:
        """Give sown values attributes that nothing else has."""
        found: dict[str, str] = {}
        for sown in self._recorder.log.groups(Sow):
            collection, _, text = sown[0].key.partition("/")
            attribute = Declaring.free(text, self._recorder, collection)
            if attribute in found.values():
                attribute = f"{attribute}_of_{collection}"
            found[f"{collection}/{text}"] = attribute
            self._recorder.plan.others.append(Entry(f"{collection}/{text}", attribute))
            if attribute == text:
                continue
            for one in sown:
                if isinstance(one.node, cst.SimpleString):
                    self._recorder.replace(one.node, repr(attribute))
                else:
                    self._recorder.mark(
                        one.node, "the name of what is sown is that of an attribute", NAME
                    )


@dataclass(frozen=True)
class _Written:
    """Writes `put_variable` as the call of a method of the variable."""

    method: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        given = _argument(updated, "value", 2)
        assert given is not None
        return cst.Call(cst.parse_expression(self.method), [cst.Arg(given)])


def _argument(node: cst.Call, keyword: str, position: int) -> cst.BaseExpression | None:
    for place, arg in enumerate(node.args):
        if arg.star:
            return None
        if (arg.keyword is not None and arg.keyword.value == keyword) or (
            arg.keyword is None and place == position
        ):
            return arg.value
    return None


# -- parameters that `setup` assigns ----------------------------------------------------------


def _read_params(method: cst.FunctionDef, recorder: Recorder) -> None:
    """Write `self.w[...]` where a method reads a parameter that `setup` assigns."""
    first = [*method.params.posonly_params, *method.params.params][:1]
    params = recorder.params
    if not params or not first:
        return
    name = first[0].name.value
    replaced = recorder.plan.replacements
    for node in _reads(method):
        if node in replaced:
            continue
        attribute = _attribute_read(node, name)
        if attribute in params:
            reading = "[...]" if params[attribute] else ".get_value()"
            recorder.replace(node, f"{code_of(node)}{reading}")


def _attribute_read(node: cst.Attribute | cst.Call, owner: str) -> str:
    """Return the attribute of an object that is read; with braces for what is computed."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
            return attr.value
        case cst.Call(
            func=cst.Name(value="getattr"),
            args=[
                cst.Arg(value=cst.Name(value=name)),
                cst.Arg(value=cst.FormattedString() as text),
            ],
        ) if name == owner:
            return computed_name(text)
    return ""


def computed_name(node: cst.FormattedString) -> str:
    """Return the text of an f-string, with names in braces for what is computed."""
    letters = iter("ijklmnopq")
    return "".join(
        part.value if isinstance(part, cst.FormattedStringText) else f"{{{next(letters, 'z')}}}"
        for part in node.parts
    )


def _reads(method: cst.FunctionDef) -> Iterator[cst.Attribute | cst.Call]:
    """Yield the attributes that a method reads, and its calls."""
    written: set[cst.CSTNode] = set()
    for node in descendants(method):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            written.add(node.target)
        elif isinstance(node, (cst.Attribute, cst.Call)) and node not in written:
            yield node
