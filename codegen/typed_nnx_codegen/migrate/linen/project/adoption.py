"""Functions that build submodules become methods of the modules that call them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    free_name,
    is_name,
    name_nodes,
    of_kinds,
    parents_of,
)
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, resolved
from typed_nnx_codegen.migrate.linen.domain.classes import (
    LINEN,
    LinenClass,
    LinenClasses,
    public_linen,
)
from typed_nnx_codegen.migrate.linen.domain.code import enclosed, written_with
from typed_nnx_codegen.migrate.linen.domain.names import bound_in
from typed_nnx_codegen.migrate.linen.project.fields import summed
from typed_nnx_codegen.migrate.linen.project.rewriting import (
    Builder,
    Edits,
    Function,
    NotBorrowed,
    Replaced,
    Rewriting,
    asks_for_carry,
    builds,
    can_move,
    find_builders,
    first_parameter,
    functions_in,
    imports_for,
    names_read,
    not_read,
    positional,
    references_in,
    rewritten,
    without_annotations,
)

# -- the calls of `setup` ---------------------------------------------------------------------


def is_always(statement: cst.BaseStatement, part: cst.CSTNode) -> bool:
    """Whether a statement evaluates a part of it once, whatever its other parts are."""
    if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
        return False
    around = [one for one in descendants(statement) if part in descendants(one) and one is not part]
    return not any(isinstance(one, _MAYBE) for one in around)


def name_lists(cls: LinenClass, edits: Edits) -> None:
    """Give the lists within an `nn.Sequential` of `setup` names: lists that are no literals."""
    setup = cls.own_methods.get("setup")
    if setup is None:
        return
    taken = set(bound_in(setup.node)) | set(cls.analysis.scope.seen)
    for statement in _lines(setup.node.body):
        found: dict[cst.CSTNode, Replaced] = {}
        lines: list[cst.BaseStatement] = []
        for node in _lists_in(statement, cls.analysis):
            local = cst.Name(free_name("layers", taken))
            found[node] = local
            lines.append(cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(local)], node)]))
        if found:
            after = statement.visit(Rewriting(Edits(expressions=found)))
            assert isinstance(after, cst.SimpleStatementLine)
            lines = [one.deep_clone() for one in (*lines, after.with_changes(leading_lines=()))]
            lines[0] = lines[0].with_changes(leading_lines=statement.leading_lines)
            edits.statements[statement] = lines


def name_targets(cls: LinenClass, edits: Edits) -> None:
    """Let comprehensions over one thing bind the same: what one is of decides sizes in another.

    `[Dense(s) for s in sizes]` and `[LayerNorm() for _ in sizes]`, whose items are called in turn.
    """
    for method in cls.own_methods.values():
        found: dict[str, list[tuple[cst.Name, set[str]]]] = {}
        for node in of_kinds(descendants(method.node.body), cst.ListComp, cst.GeneratorExp):
            match node:
                case cst.BaseSimpleComp(
                    elt=cst.Call() as elt,
                    for_in=cst.CompFor(
                        target=cst.Name() as target, iter=over, inner_for_in=None, ifs=[]
                    ),
                ):
                    found.setdefault(code_of(over), []).append((target, names_read(elt)))
        for targets in found.values():
            known = next((one.value for one, _ in targets if one.value != "_"), "_")
            for target, read in targets:
                if target.value == "_" and not read & {"_", known}:
                    edits.expressions[target] = cst.Name(known)


def write_out(cls: LinenClass, edits: Edits) -> None:
    """Write out a comprehension that `setup` unpacks: each item is a submodule with its own name.

    `self.q, self.k = [nn.Dense(4) for _ in range(2)]`.
    """
    setup = cls.own_methods.get("setup")
    for statement in () if setup is None else _lines(setup.node.body):
        match statement.body:
            case [
                cst.Assign(
                    targets=[cst.AssignTarget(cst.Tuple(elements=targets))],
                    value=cst.ListComp() | cst.GeneratorExp() as made,
                )
            ] if all(isinstance(one.value, cst.Attribute) for one in targets):
                items = _items(made)
                if len(items) == len(targets):
                    edits.expressions[made] = enclosed(cst.Tuple([*map(cst.Element, items)]))


def _items(made: cst.ListComp | cst.GeneratorExp) -> list[cst.BaseExpression]:
    """Return the expressions of the items of a comprehension; none where they are not plain."""
    values: Sequence[cst.BaseExpression] = ()
    match made.for_in:
        case cst.CompFor(
            target=cst.Name(value=name),
            iter=cst.Call(func=cst.Name(value="range"), args=[cst.Arg(cst.Integer() as count)]),
            inner_for_in=None,
            ifs=[],
        ):
            values = [cst.Integer(str(number)) for number in range(count.evaluated_value)]
        case cst.CompFor(
            target=cst.Name(value=name),
            iter=cst.Tuple(elements=elements) | cst.List(elements=elements),
            inner_for_in=None,
            ifs=[],
        ) if all(isinstance(one.value, cst.Integer | cst.SimpleString) for one in elements):
            values = [one.value for one in elements]
        case _:
            return []
    if name in bound_in(made.elt):
        return []
    uses = [one for one in name_nodes(made.elt) if one.value == name]
    items = (written_with(made.elt, dict.fromkeys(uses, one)) for one in values)
    return [one.deep_clone() for one in items]


def _lists_in(statement: cst.BaseStatement, analysis: Analysis) -> Iterator[cst.BaseExpression]:
    """Yield the comprehensions, and sums of them, that a statement gives an `nn.Sequential`."""
    for call in descendants(statement):
        value = analysis.values.get(call.func, UNKNOWN) if isinstance(call, cst.Call) else UNKNOWN
        if not isinstance(value, External) or public_linen(value.name) != _SEQUENTIAL:
            continue
        assert isinstance(call, cst.Call)
        for arg in call.args:
            listed = arg.value.elements if isinstance(arg.value, cst.List | cst.Tuple) else ()
            starred = [one.value for one in listed if isinstance(one, cst.StarredElement)]
            for one in (arg.value, *starred):
                is_made = any(isinstance(part, cst.ListComp) for part in summed(one))
                if is_made and is_always(statement, one):
                    yield one


_SEQUENTIAL: Final = f"{LINEN}.Sequential"
_MAYBE: Final = (cst.Lambda, cst.BaseComp, cst.IfExp, cst.BooleanOperation)


def _lines(body: cst.BaseSuite) -> Iterator[cst.SimpleStatementLine]:
    """Yield the statements of a body and of the blocks in it; headers with the blocks."""
    for one in body.body:
        if isinstance(one, cst.SimpleStatementLine):
            yield one
        elif isinstance(one, cst.If | cst.For | cst.While | cst.With):
            yield from _lines(one.body)
            orelse = getattr(one, "orelse", None)
            while isinstance(orelse, cst.If):
                yield from _lines(orelse.body)
                orelse = orelse.orelse
            if isinstance(orelse, cst.Else):
                yield from _lines(orelse.body)


# -- methods ----------------------------------------------------------------------------------

SELF: Final = "self"


@dataclass(eq=False)
class Adoption:
    """The functions that become methods of a module.

    Attributes:
        cls: The module.
        builders: The functions, by definition.
        names: The methods, by definition of the function.
        references: How the methods of the module refer to them: by expression.
        inner: How the functions refer to each other, by definition of the function.
        takers: The functions that are given the module itself.
        given: The arguments that give it.
    """

    cls: LinenClass
    builders: dict[cst.CSTNode, Builder] = field(default_factory=dict)
    names: dict[cst.CSTNode, str] = field(default_factory=dict)
    references: dict[cst.CSTNode, cst.Attribute] = field(default_factory=dict)
    inner: dict[cst.CSTNode, dict[cst.CSTNode, cst.Attribute]] = field(default_factory=dict)
    takers: set[cst.CSTNode] = field(default_factory=set)
    given: set[cst.CSTNode] = field(default_factory=set)


def adoption_of(
    cls: LinenClass,
    builders: Mapping[cst.CSTNode, Builder],
    taken: set[str],
    written: set[cst.CSTNode],
) -> Adoption:
    """Return what becomes methods of a module: what its methods refer to, and these in turn.

    Args:
        cls: The module.
        builders: The functions that build submodules and may become methods.
        taken: The names that objects of the module have already.
        written: The code that is written anew.
    """
    found = Adoption(cls)

    def follow(
        function: Function, owner: str, analysis: Analysis
    ) -> dict[cst.CSTNode, cst.Attribute]:
        code: dict[cst.CSTNode, cst.Attribute] = {}
        for node, name, target, given in _references(function, owner, analysis, builders):
            builder = builders[target]
            takes = given is not None
            if not builder.is_of_objects and _is_of(node, name):
                continue  # the default of a field: callers may give another function
            if not takes and builder.declares:
                continue
            if node in written or (target in found.names and takes != (target in found.takers)):
                continue
            if not takes and not builder.is_of_objects and SELF in _bound(builder.node):
                continue
            if target not in found.names:
                method = builder.name
                if builder.is_of_objects:
                    # A method of a base that is no module, which the module does not replace.
                    if not _is_of(node, name) or cls.method(method) is not None:
                        continue
                elif method in taken:
                    method = free_name(f"_{method.lstrip('_')}", taken)
                taken.add(method)
                found.names[target], found.builders[target] = method, builder
                found.takers |= {target} if takes else set()
                is_first = builder.is_of_objects or takes
                inner = first_parameter(builder.node) if is_first else SELF
                found.inner[target] = follow(builder.node, inner, builder.analysis)
            found.given |= {given} if given is not None else set()
            is_own = name == owner and function in found.takers
            code[node] = cst.Attribute(
                cst.Name(SELF if is_own else name), cst.Name(found.names[target])
            )
        return code

    for method in cls.own_methods.values():
        owner = first_parameter(method.node)
        if method.is_bound and owner:
            found.references |= follow(method.node, owner, cls.analysis)
    return found


def _references(
    function: Function, owner: str, analysis: Analysis, known: Mapping[cst.CSTNode, Builder]
) -> list[tuple[cst.BaseExpression, str, cst.CSTNode, cst.Arg | None]]:
    """Return where a function refers to others, the name of the module there, and which one it is.

    With them is the argument that gives it the module, if one does. Other functions that a call
    gives the module are left out, and those that a transform gives it.
    """
    parents = parents_of(function)
    found: list[tuple[cst.BaseExpression, str, cst.CSTNode, cst.Arg | None]] = []
    for node, target in references_in(function.body, analysis, known):
        around = parents.get(node)
        if isinstance(around, cst.Arg) and _is_of_linen(parents.get(around), analysis):
            continue
        name = _owner_at(node, function, owner, parents, analysis)
        call = around if isinstance(around, cst.Call) and around.func is node else None
        if call is None or not _gives(call, name):
            found.append((node, name, target, None))
        elif known[target].is_given(call, name):
            found.append((node, name, target, call.args[0]))
    return found


def _is_of(node: cst.BaseExpression, owner: str) -> bool:
    """Whether an expression is an attribute of the module."""
    return isinstance(node, cst.Attribute) and is_name(node.value, owner)


def _gives(call: cst.Call, owner: str) -> bool:
    """Whether a call gives the module itself."""
    return any(isinstance(arg.value, cst.Name) and arg.value.value == owner for arg in call.args)


def _owner_at(
    node: cst.CSTNode,
    function: Function,
    owner: str,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    analysis: Analysis,
) -> str:
    """Return the name of the module at a place: functions under transforms are given it."""
    current: cst.CSTNode | None = node
    while current is not None and current is not function:
        if isinstance(current, cst.FunctionDef | cst.Lambda):
            names = positional(current)
            if names and owner not in names and _is_lifted(current, function, parents, analysis):
                return names[0]
        current = parents.get(current)
    return owner


def _is_lifted(
    inner: Function,
    function: Function,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    analysis: Analysis,
) -> bool:
    """Whether a function within another one is given to a transform of Linen."""
    if isinstance(inner, cst.Lambda):
        arg = parents.get(inner)
        return arg is not None and _is_of_linen(parents.get(arg), analysis)
    if inner.decorators:
        return any(_name_of(one.decorator, analysis).startswith(LINEN) for one in inner.decorators)
    for node in descendants(function):
        if isinstance(node, cst.Call) and _is_of_linen(node, analysis):
            for arg in node.args:
                if isinstance(arg.value, cst.Name) and arg.value.value == inner.name.value:
                    return True
    return False


def _is_of_linen(node: cst.CSTNode | None, analysis: Analysis) -> bool:
    return isinstance(node, cst.Call) and _name_of(node.func, analysis).startswith(LINEN)


def _name_of(node: cst.BaseExpression, analysis: Analysis) -> str:
    if isinstance(node, cst.Call):
        return _name_of(node.func, analysis)
    value = analysis.values.get(node, UNKNOWN)
    return value.name if isinstance(value, External) else ""


def _bound(function: Function) -> list[str]:
    if isinstance(function, cst.FunctionDef):
        return list(bound_in(function))
    return [node.name.value for node in descendants(function) if isinstance(node, cst.Param)]


def drop_unused(
    candidates: set[cst.CSTNode],
    builders: Mapping[cst.CSTNode, Builder],
    analyses: Mapping[Path, Analysis],
    edits: Mapping[Path, Edits],
) -> None:
    """Drop the functions that nothing else uses, and the imports of them.

    Args:
        candidates: The functions that may go.
        builders: The functions that build submodules.
        analyses: The files.
        edits: What changes in each file.
    """
    used: dict[cst.CSTNode, set[cst.CSTNode | None]] = {node: set() for node in builders}
    imported: dict[cst.CSTNode, list[tuple[Path, str]]] = {node: [] for node in builders}
    for path, analysis in analyses.items():
        _note_uses(analysis, builders, edits[path], used)
        exported = set(analysis.exported() or ())
        for name, value in analysis.scope.seen.items():
            target: object = getattr(resolved(value), "node", None)
            if not isinstance(target, cst.CSTNode) or target not in builders:
                continue
            is_import = name in analysis.scope.imports
            if name in exported or (is_import and analysis.is_package):
                used[target].add(None)
            elif is_import:
                imported[target].append((path, name))
    paths = {id(one): path for path, one in analyses.items()}
    for node in candidates:
        path = paths[id(builders[node].analysis)]
        if _is_mentioned(builders[node].name, path, analyses):
            used[node].add(None)
    dropped = set(candidates)
    while True:
        kept = {node for node in dropped if used[node] - dropped - {node}}
        if not kept:
            break
        dropped -= kept
    for node in dropped:
        builder = builders[node]
        edits[paths[id(builder.analysis)]].dropped.add(builder.statement)
        for path, name in imported[node]:
            edits[path].unimported.add(name)


def _is_mentioned(name: str, home: Path, analyses: Mapping[Path, Analysis]) -> bool:
    """Whether a file of the same package that is not migrated has the name of a function.

    An `__init__.py` that passes it on imports nothing of flax, and is not read otherwise.
    """
    if not (home.parent / "__init__.py").is_file():
        return False
    top = home.parent
    while (top.parent / "__init__.py").is_file():
        top = top.parent
    word = re.compile(rf"\b{re.escape(name)}\b".encode())
    known = {path.resolve() for path in analyses}
    others = (path for path in top.rglob("*.py") if path.resolve() not in known)
    return any(word.search(path.read_bytes()) for path in others if path.is_file())


def _note_uses(
    analysis: Analysis,
    builders: Mapping[cst.CSTNode, Builder],
    edits: Edits,
    used: dict[cst.CSTNode, set[cst.CSTNode | None]],
) -> None:
    """Note where a file uses functions: in another function, or elsewhere."""
    written = edits.calls_written()
    homes: dict[cst.CSTNode, cst.CSTNode] = {}
    for one in builders.values():
        if one.analysis is analysis:
            homes |= dict.fromkeys(descendants(one.statement), one.node)
    named: dict[str, list[cst.CSTNode]] = {}
    for one in builders.values():
        if one.owner is not None:
            named.setdefault(one.name, []).append(one.node)
    known = dict(functions_in(analysis.tree, analysis))
    for node in (*analysis.nodes.of(cst.Name), *analysis.nodes.of(cst.Attribute)):
        if node in edits.names or node in written:
            continue
        targets: list[cst.CSTNode] = [known[node].node] if node in known else []
        if node not in known and isinstance(node, cst.Attribute):
            # A method of something that is not known.
            targets = named.get(node.attr.value, [])
        for target in targets:
            if target in used:
                used[target].add(homes.get(node))


def with_builders(analyses: Mapping[Path, Analysis]) -> dict[Path, cst.Module]:
    """Return the files that change when modules build themselves what functions build for them."""
    classes = LinenClasses(analyses.values())
    every = [cls for one in analyses.values() for cls in classes.all_in(one)]
    builders = {
        node: one
        for node, one in find_builders(analyses.values(), classes).items()
        if can_move(one)
    }
    edits = {path: Edits() for path in analyses}
    of_file = {id(one): edits[path] for path, one in analyses.items()}
    gone: set[cst.CSTNode] = set()
    for cls in every:
        name_lists(cls, of_file[id(cls.analysis)])
        name_targets(cls, of_file[id(cls.analysis)])
        write_out(cls, of_file[id(cls.analysis)])
        _bind_static(cls, classes, of_file[id(cls.analysis)])
    adopted = {
        node: one
        for node, one in builders.items()
        if one.is_of_objects or SELF not in _bound(one.node) or first_parameter(one.node) == SELF
    }
    for cls in every if adopted else ():
        if isinstance(cls.node.body, cst.IndentedBlock):
            gone |= _adopt(cls, adopted, _names_of(cls, every), of_file[id(cls.analysis)])
    if all(one.is_empty for one in edits.values()):
        return {}
    drop_unused({node for node in gone if node in builders}, builders, analyses, edits)
    return {
        path: rewritten(analyses[path].tree, one) for path, one in edits.items() if not one.is_empty
    }


def _names_of(cls: LinenClass, every: Iterable[LinenClass]) -> set[str]:
    """Return the names that objects of a class, or of one that inherits from it, may have."""
    related = [one for one in every if cls in one.ancestry()]
    found: set[str] = set()
    owners = {first_parameter(method.node) for one in related for method in one.methods().values()}
    for one in {each for relative in related for each in relative.ancestry()}:
        found |= {each.name for each in one.own_fields} | set(one.own_methods) | set(one.constants)
        for node in descendants(one.node):
            match node:
                case cst.Attribute(value=cst.Name(value=owner), attr=attr) if owner in owners:
                    found.add(attr.value)
                case cst.SimpleString(value=text):
                    found.add(text.strip("'\""))
    return found


def _bind_static(cls: LinenClass, classes: LinenClasses, edits: Edits) -> None:
    """Give static methods that build submodules the module, where only `self.name` calls them."""
    for name, method in cls.own_methods.items():
        node = method.node
        if (
            [*method.decorators] == ["builtins.staticmethod"]
            and SELF not in _bound(node)
            and builds(node, cls.analysis, classes)
            and not asks_for_carry(node)
            and all(_is_of(one, SELF) for one, _ in classes.reads_of(name))
        ):
            edits.expressions[node.params] = _with_self(node.params, "")
            edits.dropped.add(node.decorators[0])


def _adopt(
    cls: LinenClass, builders: Mapping[cst.CSTNode, Builder], taken: set[str], edits: Edits
) -> set[cst.CSTNode]:
    """Let a class have functions as methods; return the functions."""
    adoption = adoption_of(cls, builders, taken, edits.calls_written())
    methods = {node: _method(one, adoption) for node, one in adoption.builders.items()}
    imports: list[str] = []
    try:
        for node, one in adoption.builders.items():
            imports += imports_for(methods[node], one.analysis, cls.analysis)
    except NotBorrowed:
        return set()
    if methods:
        edits.methods[cls.node] = [*methods.values()]
        edits.imports += [one for one in imports if one not in edits.imports]
        edits.names |= adoption.references
        edits.dropped |= adoption.given
    return set(adoption.builders)


def _method(builder: Builder, adoption: Adoption) -> cst.FunctionDef:
    """Return a function as a method."""
    node = builder.node
    name = cst.Name(adoption.names[node])
    takes = node in adoption.takers
    own = _own_names(node) if takes else builder.of_class()
    changes = Edits({**own, **adoption.inner[node]}, dropped=adoption.given)
    after = node.visit(Rewriting(changes))
    if isinstance(after, cst.Lambda):
        body = cst.SimpleStatementLine([cst.Return(after.body)])
        after = cst.FunctionDef(name, after.params, cst.IndentedBlock([body]))
    assert isinstance(after, cst.FunctionDef)
    if builder.owner is not None:
        # Its types may be names of its class.
        kept = after.decorators if builder.is_of_objects else []
        after = without_annotations(after.with_changes(decorators=kept))
        assert isinstance(after, cst.FunctionDef)
    comments = [line for line in after.leading_lines if line.comment is not None]
    is_method = builder.is_of_objects or takes
    return after.with_changes(
        name=name,
        params=after.params if is_method else _with_self(after.params, builder.receiver),
        leading_lines=[cst.EmptyLine(indent=False), *comments],
    ).deep_clone()


def _own_names(function: Function) -> dict[cst.CSTNode, cst.BaseExpression]:
    """Return the names that are the module, of a function that is given it, as a method has them."""
    first = first_parameter(function)
    every = [function, *descendants(function)]
    aside = {id(part) for below in every for part in not_read(below)}
    return {
        one: cst.Name(SELF)
        for one in every
        if isinstance(one, cst.Name) and one.value == first and id(one) not in aside
    }


def _with_self(params: cst.Parameters, receiver: str) -> cst.Parameters:
    """Return the parameters of a function as those of a method; `receiver` is what it had before."""
    first = cst.Param(cst.Name(SELF))
    kind = "posonly_params" if params.posonly_params else "params"
    others = getattr(params, kind)
    return params.with_changes(**{kind: [first, *(others[1:] if receiver else others)]})
