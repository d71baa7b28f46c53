"""The variables of a module: where Linen has them, where the new model has them, who reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    free_name,
    is_name,
    of_kinds,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectClass, options_of
from typed_nnx_codegen.migrate.linen.domain.class_plan import (
    CALL,
    COUNTERPART,
    NAME,
    ClassPlan,
    Edit,
    Entry,
    Need,
    Rebuilt,
    Site,
    given_of,
    linen_class_name,
)
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    Field,
    LinenClass,
    is_protocol,
    types_in,
)
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Declare,
    Derived,
    Evaluate,
    Frame,
    Line,
    Recorder,
    Sow,
    Stale,
    StateAccess,
    VariableRead,
)
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    Choice,
    ClassRef,
    FieldModule,
    ModuleValue,
    Ref,
    SelfValue,
    VariableValue,
    sites_in,
)
from typed_nnx_codegen.migrate.linen.domain.values import NONE, Array, Const, Passed, Seq, Value
from typed_nnx_codegen.migrate.linen.evaluate.declaring import Declaring
from typed_nnx_codegen.migrate.linen.evaluate.lifts import Unsupported, stacks_of
from typed_nnx_codegen.migrate.linen.layers import Given, Helper, find_layer
from typed_nnx_codegen.migrate.linen.layers.layer import APPLY_WITH, BOUND_TO, INIT_LIKE
from typed_nnx_codegen.migrate.linen.project.fields import LIST, held_containers
from typed_nnx_codegen.migrate.linen.project.rewriting import (
    first_parameter,
    names_in,
    names_in_code,
    names_read,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import wanted_shape

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
    for site in recorder.plan.sites:
        for entry in _of_site(site, plan_of, scopes.get(site)):
            if site.shares and _is_taken(entry, found):
                message = "the names of its variables are those of another submodule"
                recorder.mark(site.node, message, NAME)
            other = found.setdefault(entry.linen, entry).to or ""
            if other != entry.to and other.startswith(f"{site.attribute}.") and site not in scopes:
                message = "where its variables are in NNX depends on its class"
                recorder.mark(site.node, message, NAME)
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
    for value in (*held, *_may_hold_modules(recorder.plan.cls)):
        if isinstance(value, FieldModule):
            is_shared = value.name == recorder.plan.shared
            for entry in _of_field(value, plan_of, is_shared=is_shared):
                found.setdefault(entry.linen, entry)
    for entry in _in_containers(recorder.plan.cls):
        found.setdefault(entry.linen, entry)
    return list(found.values())


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


def _may_hold_modules(cls: LinenClass) -> Iterator[FieldModule]:
    """Yield the modules that fields may hold which a method calls: their types do not say it."""
    called = {
        node.func.attr.value
        for method in cls.methods().values()
        for node in of_kinds(descendants(method.node.body), cst.Call)
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute)
    }
    for one in cls.fields():
        is_open = one.name in called and (one.default is None or is_name(one.default, "None"))
        if any(_may_be_module(kind, is_open=is_open) for kind in _types_of(one)):
            yield FieldModule(one.name)


def _types_of(one: Field) -> Iterator[object]:
    """Yield what stands in the type of a field: its options, if it is a union."""
    values = one.owner.analysis.values
    for node in types_in(one.annotation.annotation):
        inner = node.value if isinstance(node, cst.Subscript) else node
        yield from options_of(values.get(inner, UNKNOWN))


def _may_be_module(kind: object, *, is_open: bool) -> bool:
    """Whether a field of a type may hold a module.

    Args:
        kind: The type.
        is_open: Whether a method calls the field, which no default tells more of.
    """
    match kind:
        case ProjectClass(methods=methods):
            return "__call__" in methods and is_protocol(kind)
        case External(name=name):
            return is_open and name.rpartition(".")[2] in ("Any", "Callable")
    return False


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
            yield _unless_stacked(entry, site)
    for other in site.alternatives:
        name = site.explicit or site.linen.replace(site.class_name, other.class_name, 1)
        for entry in _below(other.target, name, site.attribute, other, plan_of):
            yield _unless_stacked(entry, site)


def _unless_stacked(entry: Entry, site: Site) -> Entry:
    """Return a variable that has the same layout in NNX, or is in a submodule that nothing stacks.

    Raises:
        Unsupported: It is neither.
    """
    if entry.change and (site.transforms or site.stacks) and stacks_of(site):
        raise Unsupported("the weights of a stacked layer have another layout in NNX")
    return entry


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
        yield _prefixed(Entry(one.linen, one.nnx, one.change), linen, attribute)


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


def write_accesses(recorder: Recorder, refer: Callable[[str], str]) -> None:
    """Write what asks for variables by name, what takes them all, and the names of what is sown."""
    variables = recorder.variables
    for access in recorder.log.of(StateAccess):
        declared = variables.get(f"{access.collection}/{access.name}")
        if declared is None:
            message = f"`{access.method}` of a variable that this module does not declare"
            recorder.mark(access.node, message, NAME)
        elif access.method == "has_variable":
            _write_question(access, declared, recorder)
        else:
            recorder.replace(access.node, f"self.{declared.attribute}")
    _name_sown(recorder)
    for method in recorder.plan.cls.methods().values():
        if method.is_bound:
            _read_params(method.node, recorder)
    for method in recorder.plan.cls.own_methods.values():
        if method.is_bound and method.name != "setup":
            _write_functional(method.node, recorder, refer)


# What NNX does by a function of the module.
FUNCTIONAL: Final[Mapping[str, Helper]] = {
    "apply": APPLY_WITH,
    "bind": BOUND_TO,
    "init": INIT_LIKE,
}
# Settings of `apply` that those functions do not have.
_ONLY_LINEN: Final = frozenset({"capture_intermediates"})


def _write_functional(
    method: cst.FunctionDef, recorder: Recorder, refer: Callable[[str], str]
) -> None:
    """Write `self.apply(...)` as `apply_with(self, ...)`, and `self.apply` as a partial of it."""
    owner = first_parameter(method)
    cls = recorder.plan.cls
    fields = {one.name for one in cls.fields()}
    calls: dict[cst.CSTNode, cst.Call] = {
        one.func: one for one in descendants(method.body) if isinstance(one, cst.Call)
    }
    changed = fields & set(recorder.instance.assigned if recorder.instance is not None else ())
    for node in descendants(method.body):
        name = _attribute_read(node, owner)
        if name not in FUNCTIONAL or name in fields | {*cls.methods()}:
            continue
        call, helper = calls.get(node), FUNCTIONAL[name]
        keywords = {one.keyword.value for one in call.args if one.keyword} if call else set()
        if keywords & _ONLY_LINEN or (name == "init" and changed):
            recorder.mark(call or node, f"`self.{name}` is not migrated here", COUNTERPART)
            continue
        recorder.log.append(Need(helper))
        if call is None:
            recorder.replace(node, f"{refer('functools.partial')}({helper.name}, {owner})")
        else:
            recorder.replace(call, _of_function(helper.name))


def _of_function(function: str) -> Rebuilt:
    """Return what writes a call of a method of the module as one of a function."""

    def written(node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        del node
        assert isinstance(updated.func, cst.Attribute)
        args = [cst.Arg(updated.func.value), *updated.args]
        return updated.with_changes(func=cst.Name(function), args=args)

    return written


def _write_question(access: StateAccess, declared: Declare, recorder: Recorder) -> None:
    """Write `has_variable`."""
    if declared.later:
        recorder.replace(access.node, f"(self.{declared.attribute} is not None)")
        return
    every = recorder.log.about(Declare, declared.key)
    around = [one.around for one in every if one.around is not None]
    calls = [one.calls for one in every if one.calls is not None] or [()]
    asked = [one for one in access.conditions if one.is_of_call]
    if not any(all(one in asked for one in each) for each in calls):
        message = "whether Linen has this variable depends on its first call"
        recorder.mark(access.node, message, CALL)
    if any(all(one in access.conditions for one in each) for each in around):
        recorder.replace(access.node, "True")
    else:
        recorder.replace(access.node, f"hasattr(self, {declared.attribute!r})")


def _name_sown(recorder: Recorder) -> None:
    """Give sown values attributes that nothing else has."""
    found: dict[str, str] = {}
    for sown in recorder.log.groups(Sow):
        collection, _, text = sown[0].key.partition("/")
        attribute = Declaring.free(text, recorder, collection)
        if attribute in found.values():
            attribute = f"{attribute}_of_{collection}"
        found[f"{collection}/{text}"] = attribute
        recorder.plan.others.append(Entry(f"{collection}/{text}", attribute))
        for one in sown if attribute != text else ():
            if isinstance(one.node, cst.SimpleString):
                recorder.replace(one.node, repr(attribute))
            else:
                message = "the name of what is sown is that of an attribute"
                recorder.mark(one.node, message, NAME)


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


def _attribute_read(node: cst.CSTNode, owner: str) -> str:
    """Return the attribute of an object that is read; empty for another node."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
            return attr.value
    return ""


def _reads(method: cst.FunctionDef) -> Iterator[cst.Attribute]:
    """Yield the attributes that a method reads."""
    written: set[cst.CSTNode] = set()
    for node in descendants(method):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign)):
            written.add(node.target)
        elif isinstance(node, cst.Attribute) and node not in written:
            yield node


# -- reads through `.variables` ---------------------------------------------------------------

_MESSAGE: Final = "which variable this is in `.variables` is not known"
# The settings of a layer that are the shape of a variable.
_SHAPES: Final = {("flax.linen.Embed", "embedding"): ("num_embeddings", "features")}


@dataclass(frozen=True, eq=False)
class VariableReads:
    """Finds such reads, and writes them as attributes."""

    evaluate: Evaluate

    def read(self, node: cst.Subscript, frame: Frame) -> Value | None:
        """Return the variable that an expression reads; None where it is something else."""
        found = _path(node)
        if found is None:
            return None
        owner, path = found
        site: Site | None = None
        match self.evaluate(owner, frame):
            case SelfValue() as instance if instance is frame.instance:
                pass
            case ModuleValue(site=given) if not (given.transforms or given.alternatives):
                site = given
            case _:
                return None
        frame.log(VariableRead(node, owner, site, path))
        return _value(site, path)


def write_reads(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Write the reads of a module, whose variables are known now."""
    for read in recorder.log.of(VariableRead):
        target = recorder.plan.cls if read.site is None else read.site.target
        place = _place(read.path, _readable(target, read.site, recorder, plan_of))
        if place is None:
            recorder.mark(read.node, _MESSAGE)
        else:
            own = recorder.variables.get(read.path) if read.site is None else None
            is_array = own is None or isinstance(own.value, Array)
            reading = "[...]" if is_array else ".get_value()"
            recorder.replace(read.node, f"{code_of(read.owner)}{place}{reading}")


def _readable(
    target: str | LinenClass,
    site: Site | None,
    recorder: Recorder,
    plan_of: Callable[[LinenClass], ClassPlan],
) -> Iterable[Entry]:
    """Return the variables of what is read from."""
    if site is None:
        return recorder.plan.entries
    if isinstance(target, LinenClass):
        plan = plan_of(target)
        return [] if plan.stays or not plan.is_done else plan.entries
    layer = find_layer(target)
    if layer is None or site.is_bridged:
        return []
    return [Entry(one.linen, one.nnx) for one in layer.variables(given_of(site)) if not one.change]


def _place(path: str, entries: Iterable[Entry]) -> str | None:
    """Return the attributes that lead to a variable: ``.layers[0].kernel``."""
    for entry in entries:
        names = [*re.finditer(r"\{(\w+)\}", entry.linen)]
        pattern = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(entry.linen))
        match = re.fullmatch(pattern, path) if len({m[1] for m in names}) == len(names) else None
        if match is None:
            continue
        if entry.to is None or entry.change:
            return None
        parts = entry.to.format_map(match.groupdict()).split(".") if names else entry.to.split(".")
        if not all(part.isidentifier() or part.isdecimal() for part in parts):
            return None
        return "".join(f"[{part}]" if part.isdecimal() else f".{part}" for part in parts)
    return None


def _path(node: cst.Subscript) -> tuple[cst.BaseExpression, str] | None:
    """Return the module and the path of `module.variables["params"]["kernel"]`."""
    keys: list[str] = []
    current: cst.BaseExpression = node
    while isinstance(current, cst.Subscript):
        match current.slice:
            case [cst.SubscriptElement(slice=cst.Index(value=cst.SimpleString() as key))]:
                keys.insert(0, str(key.evaluated_value))
            case _:
                return None
        current = current.value
    match current:
        case cst.Attribute(value=owner, attr=cst.Name(value="variables")) if len(keys) > 1:
            return (owner, "/".join(keys)) if _is_name(owner) else None
    return None


def _is_name(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)


def _value(site: Site | None, path: str) -> Array:
    """Return what is known of a variable."""
    name = path.rpartition("/")[2]
    settings = _SHAPES.get((str(site.target), name)) if site is not None else None
    if site is None or settings is None or path.count("/") != 1:
        return Array()
    given = [site.given.get(setting) for setting in settings]
    if any(one is None for one in given):
        return Array()
    return Array(wanted_shape(Seq(tuple(one.value for one in given if one is not None))))


# -- what `setup` computes from variables -----------------------------------------------------

_DECLARES = ("param", "variable", "get_variable")


def is_derived(node: cst.SimpleStatementLine, frame: Frame) -> bool:
    """Whether a statement of `setup` computes from variables what belongs in a property.

    What it computes is noted either way.
    """
    recorder = frame.recorder
    owner, method = _owner(frame), frame.method
    if len(node.body) != 1 or not owner or method is None:
        return False
    match node.body[0]:
        case (
            cst.Expr(
                cst.Call(
                    func=cst.Attribute(cst.Name(value=name), attr=cst.Name(value="append"))
                ) as value
            )
            | cst.AugAssign(target=cst.Name(value=name), value=value)
            | cst.Assign(
                targets=[cst.AssignTarget(cst.Subscript(value=cst.Name(value=name)))], value=value
            )
        ):
            # A property would have to repeat all that leads to it.
            if name in frame.names and _is_stale(value, owner, frame):
                recorder.log.append(Stale(name))
            return False
        case cst.Assign(targets=[cst.AssignTarget(target=target)], value=value):
            pass
        case cst.AnnAssign(target=target, value=cst.BaseExpression() as value):
            pass
        case cst.Assign(value=value) | cst.AugAssign(value=value):
            target = _SEVERAL
        case _:
            return False
    attributes = [*_attributes_in(target, owner)]
    derived = {one.attribute for one in recorder.log.of(Derived)}
    changed = {*attributes, *(name.removeprefix(f"{owner}.") for name in _bound(node, owner))}
    if not _is_stale(value, owner, frame) and derived.isdisjoint(changed):
        return False
    if isinstance(target, cst.Name):
        recorder.log.append(Stale(target.value, node))
        return False
    # A variable may have that name itself.
    declared = {one.attribute for one in recorder.log.of(Declare)}
    is_plain = not recorder.loops and declared.isdisjoint(attributes)
    is_plain &= not isinstance(_found(value, frame), ModuleValue)
    wanted = attributes if is_plain else []
    slices = [_slice_of(one, node, method.node, owner, frame) for one in wanted]
    found = [one for one in slices if one is not None]
    if not found or len(found) < len(attributes):
        message = "it is computed from variables once; Linen computes it at each call"
        recorder.mark(node, message, CALL)
        return False
    for attribute, lines in zip(attributes, found, strict=True):
        kept = _keep_locals(attribute, lines, owner, frame)
        recorder.log.append(Derived(attribute, node, tuple(lines), owner, kept, method.node))
        recorder.log.append(Stale(f"{owner}.{attribute}"))
    return True


def _attributes_in(target: cst.BaseExpression, owner: str) -> Iterator[str]:
    """Yield the attributes of an object that a target is; none where it is something else, too."""
    match target:
        case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
            yield attr.value
        case cst.Tuple(elements=elements):
            found = [[*_attributes_in(one.value, owner)] for one in elements]
            yield from (one for each in found if all(found) for one in each)


def _slice_of(
    attribute: str,
    node: cst.BaseStatement,
    function: cst.FunctionDef,
    owner: str,
    frame: Frame,
) -> list[cst.BaseStatement] | None:
    """Return the statements of `setup` that compute an attribute; None where that is not sure.

    Args:
        attribute: The attribute.
        node: The statement that assigns it, the last one so far.
        function: The `setup` that has it.
        owner: The name of the object.
        frame: The frame of `setup`.
    """
    recorder = frame.recorder
    same = [one for one in recorder.log.of(Derived) if one.attribute == attribute]
    if any(one.function is not function for one in same):
        return None
    derived = {one.node for one in same}
    whole = function.body
    above = [*descendants(whole)]
    reach = {*above[: above.index(node) + 1]}
    made = f"{owner}.{attribute}"
    stale, needed = recorder.stale, {made}
    # A list that grows has no statement that makes it.
    grown = {name for name, statement in stale.items() if statement is None and "." not in name}

    def of_block(body: cst.BaseSuite) -> list[cst.BaseStatement]:
        kept: list[cst.BaseStatement] = []
        for one in reversed(body.body):
            bound = _bound(one, owner) & needed if one in reach else set()
            if not any(name == made or (name in stale and "." not in name) for name in bound):
                continue
            match one:
                case cst.If():
                    kept.append(of_sides(one))
                case cst.SimpleStatementLine(body=[cst.Assign() | cst.AnnAssign() as small]):
                    if made in bound and one is not node and one not in derived:
                        raise _NotRepeated
                    if not grown.isdisjoint(bound):
                        raise _NotRepeated
                    if body is whole:
                        needed.difference_update(bound)
                    needed.update(_read(small.value, owner) if small.value is not None else ())
                    kept.append(one)
                case _:
                    raise _NotRepeated
        return kept[::-1]

    def of_sides(one: cst.If) -> cst.If:
        # The constructor alone has its locals where it asks.
        if _read(one.test, owner) & {*frame.names, made} - {owner}:
            raise _NotRepeated
        body, orelse = of_block(one.body), one.orelse
        if isinstance(orelse, cst.If):
            orelse = of_sides(orelse)
        elif orelse is not None:
            last = of_block(orelse.body)
            orelse = orelse.with_changes(body=cst.IndentedBlock(last)) if last else None
        return one.with_changes(body=cst.IndentedBlock(body or [_PASS]), orelse=orelse)

    try:
        found = of_block(whole)
    except _NotRepeated:
        return None
    return None if needed & grown else found


class _NotRepeated(Exception):
    """A property cannot repeat what `setup` computes."""


# `self.a = self.b = value`, `self.a += value`.
_SEVERAL: Final = cst.Tuple([])
_PASS: Final = cst.SimpleStatementLine([cst.Pass()])


def _bound(node: cst.CSTNode, owner: str) -> set[str]:
    """Return the names, and the attributes of an object, that a statement binds."""
    attributes = {
        f"{owner}.{name}"
        for one in of_kinds(descendants(node), cst.AssignTarget, cst.AnnAssign, cst.AugAssign)
        if isinstance(one, cst.AssignTarget | cst.AnnAssign | cst.AugAssign)
        for name in _attributes_in(one.target, owner)
    }
    return {*bound_in(node), *attributes}


def _read(node: cst.CSTNode, owner: str) -> set[str]:
    """Return the names, and the attributes of an object, that an expression reads."""
    attributes = {
        f"{owner}.{one.attr.value}"
        for one in (node, *descendants(node))
        if isinstance(one, cst.Attribute) and is_name(one.value, owner)
    }
    return names_read(node) | attributes


def drop_stale(recorder: Recorder) -> None:
    """Drop the locals of `setup` that only properties read."""
    derived = recorder.log.of(Derived)
    gone: set[cst.CSTNode] = {one.node for one in derived}
    for body in {one.function.body for one in derived}:
        size = 0
        while size < len(gone):
            size = len(gone)
            aside = {below for one in gone for below in descendants(one)}
            aside |= {one.target for one in descendants(body) if isinstance(one, cst.AssignTarget)}
            read = {one.value for one in names_in(body) if one not in aside}
            gone |= {
                one.node
                for one in recorder.log.of(Stale)
                if one.node is not None and one.name not in read
            }
    for node in gone - {one.node for one in derived}:
        recorder.log.append(Edit(node, None))


def write_properties(recorder: Recorder) -> None:
    """Write the properties of a module into its plan."""
    for one in {each.attribute: each for each in recorder.log.of(Derived)}.values():
        names = {name for line in one.lines for name in bound_in(line)}
        local = free_name(one.attribute, names)
        written = {**recorder.plan.replacements, **one.kept}
        for node in (below for line in one.lines for below in descendants(line)):
            match node:
                case cst.Attribute(value=cst.Name(value=owner), attr=attr) if owner == one.owner:
                    if attr.value == one.attribute:
                        written[node] = local
                case cst.AssignTarget(target=cst.Tuple(elements=elements)):
                    each = [*_attributes_in(node.target, one.owner)]
                    if one.attribute in each:
                        others = zip(each, elements, strict=True)
                        written |= {e.value: "_" for name, e in others if name != one.attribute}
        *lines, last = one.lines
        end = f"return {local}"
        match last:
            case cst.SimpleStatementLine(body=[cst.Assign(value=value, targets=[target])]) if (
                isinstance(target.target, cst.Attribute)
            ):
                end = f"return {code_with(value, written)}"
            case _:
                lines.append(last)
        text = "\n".join([code_with(line, written).strip("\n") for line in lines] + [end])
        plain = [f"    {line}" for line in text.split("\n") if line.strip()]
        head = ["@property", f"def {one.attribute}({one.owner}):"]
        recorder.plan.properties[one.attribute] = "\n".join(head + plain)


def _keep_locals(
    attribute: str, nodes: Sequence[cst.CSTNode], owner: str, frame: Frame
) -> dict[cst.CSTNode, str]:
    """Let the object keep the locals of `setup` that a property reads; return how it reads them.

    Args:
        attribute: The property.
        nodes: Its code.
        owner: The name of the object in `setup`.
        frame: The frame of `setup`.
    """
    recorder = frame.recorder
    cls = recorder.plan.cls
    taken = {one.name for one in cls.fields()} | set(cls.methods())
    kept: dict[str, str] = {}
    found: dict[cst.CSTNode, str] = {}
    replacements, stale = recorder.plan.replacements, recorder.stale
    for node in nodes:
        written = [one for one in descendants(node) if one in replacements]
        aside = {id(part) for one in written for part in descendants(one)}
        for below in names_in_code(node):
            name = below.value
            is_local = name in frame.names and name != owner and name not in stale
            if not is_local or id(below) in aside:
                continue
            if name not in kept:
                kept[name] = free_name(f"{attribute}_{name}", taken)
                recorder.block.append(Line(f"self.{kept[name]} = {name}"))
            found[below] = f"{owner}.{kept[name]}"
    return found


def _owner(frame: Frame) -> str:
    params = None if frame.method is None else frame.method.node.params
    first = [] if params is None else [*params.posonly_params, *params.params]
    return first[0].name.value if first else ""


def _found(value: cst.BaseExpression, frame: Frame) -> Value | None:
    return frame.values.get(value)


def _is_stale(value: cst.BaseExpression, owner: str, frame: Frame) -> bool:
    """Whether an expression reads variables; one that makes the variable itself does not."""
    recorder = frame.recorder
    params, stale = recorder.params, recorder.stale
    target = recorder.setup_target
    match value:
        case cst.Call(func=cst.Attribute(cst.Name(value=name), cst.Name("param" | "variable"))):
            if name == owner and target is not None and value is target[0]:
                return False  # the first value, which counts once in Linen, too
    for node in descendants(value):
        match node:
            case cst.Call(func=cst.Attribute(value=cst.Name(value=name), attr=attr)) if (
                name == owner
            ):
                is_target = target is not None and node is target[0]
                if attr.value in _DECLARES and not is_target:
                    return attr.value != "variable" or node is not value
                callee = _found(node.func, frame)
                method = callee.method if isinstance(callee, BoundMethod) else None
                if method is not None and _declares(method.node, recorder):
                    return True
            case cst.Attribute(value=cst.Name(value=name), attr=attr) if name == owner:
                if attr.value in params or f"{owner}.{attr.value}" in stale:
                    return True
            case cst.Attribute(attr=cst.Name(value="value")):
                if isinstance(_found(node.value, frame), VariableValue):
                    return True
            case cst.Name(value=name) if name in stale:
                return True
    return False


def _declares(method: cst.FunctionDef, recorder: Recorder) -> bool:
    names = (*_DECLARES, *recorder.params)
    return any(
        isinstance(node, cst.Attribute) and node.attr.value in names for node in descendants(method)
    )


# -- submodules that share the scope ----------------------------------------------------------


def share_scope(passed: Sequence[Passed], node: cst.Call, frame: Frame) -> Value:
    """Note that a submodule has the scope of the module, or the module that of one in a field."""
    if not frame.records:
        return NONE  # the plan of its class tells it
    match [one.value for one in passed]:
        case [SelfValue() as owner, ModuleValue() | Choice() as other] if (
            owner is frame.instance and _is_built(other)
        ):
            if frame.method is not None:
                for site in sites_in(other):
                    site.shares = True
                _drop(node, frame.method.node, frame)
            return NONE
        case [SelfValue() as owner, FieldModule(name=name)] if owner is frame.instance and any(
            name == one.name for one in owner.cls.fields()
        ):
            if frame.method is not None:
                frame.recorder.plan.shared = name
                _drop(node, frame.method.node, frame)
            return NONE
    frame.recorder.mark(node, "`nn.share_scope` with a module from outside is not migrated")
    return NONE


def is_scope(node: cst.BaseExpression, frame: Frame) -> bool:
    """Whether an expression is the scope of the module, which it has wherever methods run."""
    match node:
        case cst.Attribute(value=cst.Name(value=name), attr=cst.Name(value="scope")):
            return isinstance(frame.lookup(name), SelfValue)
    return False


def _is_built(value: Value) -> bool:
    """Whether a value is one of some submodules that are built here."""
    if isinstance(value, Choice):
        return all(_is_built(one) for one in value.options)
    return isinstance(value, ModuleValue)


def _drop(node: cst.Call, function: cst.FunctionDef, frame: Frame) -> None:
    """Drop the statement that is nothing but a call."""
    for line in descendants(function):
        match line:
            case cst.SimpleStatementLine(body=[cst.Expr(value=value)]) if value is node:
                frame.log(Edit(line, None))
