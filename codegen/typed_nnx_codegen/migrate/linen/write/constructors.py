"""Writes the constructor of a module: parameters, lines, and the names that they need."""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.imports import Modules
from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    dotted,
    is_name,
    text_of,
)
from typed_nnx_codegen.migrate.analysis.values import (
    UNKNOWN,
    ModuleNames,
    ProjectModule,
    resolved,
)
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass, field_options
from typed_nnx_codegen.migrate.linen.domain.code import wrapped, written_with
from typed_nnx_codegen.migrate.linen.domain.names import names_in_nnx, written_name
from typed_nnx_codegen.migrate.linen.evaluate.declaring import MODE_LINE
from typed_nnx_codegen.migrate.linen.project.fields import holds_arrays, may_be_none
from typed_nnx_codegen.migrate.linen.project.rewriting import (
    NotBorrowed,
    import_of,
    is_same_name,
    means_another,
    names_read,
)
from typed_nnx_codegen.migrate.linen.write.constructor_code import is_partitioning_in, placed_later
from typed_nnx_codegen.migrate.linen.write.tidying import (
    pure_in,
    renumbered,
    simple,
    with_comprehensions,
    without_unread,
)

_BUILTINS: Final = frozenset(dir(builtins))


def import_inherited(constructor: cst.FunctionDef, plan: ClassPlan, file: File) -> None:
    """Let a file import the names of other files that stand in a constructor.

    Fields and the code of `setup` come from there, with types, defaults and functions.

    Args:
        constructor: The constructor.
        plan: What becomes of the class.
        file: The file that it is in.
    """
    target = plan.cls.analysis
    sources = [*plan.cls.ancestry(), *plan.setups]
    homes = [one.analysis for one in sources if one.analysis is not target]
    known = {*_BUILTINS, *target.scope.seen, *target.scope.imports, *file.names.added}
    for name in sorted(names_read(constructor) - known) if homes else ():
        for home in homes:
            if name not in home.scope.seen and name not in home.scope.imports:
                continue
            try:
                file.names.added.setdefault(name, import_of(name, home, target))
            except NotBorrowed:
                continue
            break


def spelled_name(name: str, home: Analysis, target: Analysis) -> cst.BaseExpression | None:
    """Return how a file spells a name that another one defines; None where it does not have it.

    Attributes of modules are taken from its code: a package may hide the modules in it.
    """
    imports = {local: one for local, one in target.scope.imports.items() if not one.is_apart}
    value = resolved(home.scope.seen.get(name, UNKNOWN))
    if home is target or (name in imports and is_same_name(name, home, target)):
        return cst.Name(name)
    for local, binding in imports.items():
        other = resolved(target.scope.seen.get(local, UNKNOWN))
        if binding.full == f"{home.module}.{name}" or (other is value and value != UNKNOWN):
            return cst.Name(local)
        if isinstance(other, ProjectModule) and other.names is home:
            return cst.Attribute(cst.Name(local), cst.Name(name))
        if not binding.is_from and binding.module == home.module:
            return cst.parse_expression(f"{home.module}.{name}")
    for node in target.known.of(cst.Attribute):
        other = target.values[node]
        if dotted(node).partition(".")[0] not in imports:
            continue
        if other is value and value != UNKNOWN:
            return node.deep_clone()
        if isinstance(other, ProjectModule) and other.names is home:
            return cst.Attribute(node.deep_clone(), cst.Name(name))
    return None


def imported_name(name: str, home: Analysis, file: File) -> cst.BaseExpression:
    """Return what a file calls a name of another one, which it imports now."""
    statement = import_of(name, home, file.analysis)
    local = name
    if name in file.analysis.scope.seen or file.names.added.get(name, statement) != statement:
        local = f"{home.module.rpartition('.')[2]}_{name}"
        statement = f"{statement} as {local}"
    file.names.added.setdefault(local, statement)
    return cst.Name(local)


class ImportedModules:
    """Finds the modules of the project that files name in imports.

    Args:
        project: The modules that are there.
        analyses: Those that are migrated.
    """

    def __init__(self, project: Modules, analyses: Iterable[Analysis]) -> None:
        self._project = project
        self._by_names: dict[ModuleNames, Analysis] = {one: one for one in analyses}
        self._imported: dict[Analysis, frozenset[Analysis]] = {}

    def find(self, name: str, importer: Analysis) -> Analysis | None:
        """Return the module that a file means by a dotted name; None where the project has none."""
        if name == importer.module:
            return importer
        names = self._project.module(name, importer.path)
        return self._by_names.get(names) if names is not None else None

    def imported_by(self, home: Analysis) -> frozenset[Analysis]:
        """Return the modules that a module imports, and these in turn."""
        if home not in self._imported:
            found: set[Analysis] = set()
            waiting = [home]
            while waiting:
                importer = waiting.pop()
                for binding in importer.scope.imports.values():
                    for name in () if binding.is_apart else (binding.module, binding.full):
                        one = self.find(name, importer)
                        if one is not None and one not in found:
                            found.add(one)
                            waiting.append(one)
            self._imported[home] = frozenset(found - {home})
        return self._imported[home]


class Refer:
    """Spells public names in a file, and names of the project by where they are defined.

    Args:
        file: The file.
        modules: The modules of the project.
    """

    def __init__(self, file: File, modules: ImportedModules) -> None:
        self._file = file
        self._modules = modules
        self._spelled: dict[str, str] = {}

    def __call__(self, public: str) -> str:
        """Return the expression for a public name."""
        if public not in self._spelled:
            self._spelled[public] = self._expression(public)
        return self._spelled[public]

    def _expression(self, public: str) -> str:
        if public.startswith("builtins."):
            return public.removeprefix("builtins.")
        target = self._file.analysis
        module, _, name = public.rpartition(".")
        if not module and public != "nnx":
            return public  # a class in a function: what constructs it is in that function, too
        home = self._modules.find(module, target)
        if home is None or name not in home.scope.seen:
            return code_of(self._file.refer(written_name(public) or public))
        spelled = spelled_name(name, home, target)
        if spelled is None and target in self._modules.imported_by(home):
            return name  # it cannot be imported, stays undefined, and the class is not written
        return code_of(spelled or imported_name(name, home, self._file))


def clashing_names(
    node: cst.CSTNode, home: Analysis, file: File
) -> dict[cst.CSTNode, cst.BaseExpression]:
    """Return other names for those in inherited code that mean something else in a file.

    The file imports what they mean under these names.
    """
    target = file.analysis
    if home is target:
        return {}
    read = names_read(node)
    found: dict[cst.CSTNode, cst.BaseExpression] = {}
    for below in (node, *descendants(node)):
        if not isinstance(below, cst.Name) or below.value not in read:
            continue
        name = below.value
        is_defined = name not in home.scope.imports
        if is_defined and means_another(name, home, target):
            found[below] = spelled_name(name, home, target) or imported_name(name, home, file)
    return found


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the constructor, and the line that sets its field.

    Attributes:
        param: The parameter; None where the field is none.
        lines: The lines that set the field.
        is_keyword: Whether it is given by name only.
    """

    param: cst.Param | None
    lines: tuple[cst.SimpleStatementLine, ...]
    is_keyword: bool = False


def constructor_of(plan: ClassPlan, cls: LinenClass, file: File) -> cst.FunctionDef:
    """Return the constructor of a module."""
    body: list[cst.BaseStatement] = []
    above: Sequence[cst.EmptyLine] = ()
    positional: list[cst.Param] = []
    keywords: list[cst.Param] = []
    joined = _joined_to_tuples(cls)
    for field in cls.fields():
        comments, behind = _comments(field) if field.owner is cls else ((), None)
        one = _parameter(field, file, plan, is_tuple=field.name in joined)
        if one.param is not None:
            (keywords if one.is_keyword else positional).append(one.param)
        above = (*above, *comments)
        if one.lines:
            first, *others = one.lines
            lines = [first.with_changes(leading_lines=above), *others]
            lines[-1] = lines[-1].with_changes(trailing_whitespace=behind or _END)
            body += lines
            above = ()
    keywords += [_lifted(one, file) for one in plan.lifted]
    keywords.append(cst.Param(cst.Name("rngs"), cst.Annotation(file.refer("nnx.Rngs"))))
    body += [MODE_LINE] if plan.asks_mode else []
    body += _below(above, _in_order(plan) or ([] if body else [_PASS]))
    node = _function(positional, keywords, body)
    products = [one for one in descendants(node.body) if dotted(one) == "math.prod"]
    if products:
        node = written_with(node, dict.fromkeys(products, file.refer("math.prod")))
    import_inherited(node, plan, file)
    bound = {one.value for one in descendants(node.body) if isinstance(one, cst.Name)}
    node = without_unread(with_comprehensions(node), bound, pure_in(file.analysis))
    return simple(renumbered(node))


def _in_order(plan: ClassPlan) -> list[cst.BaseStatement]:
    """Return the statements of a constructor; a default comes behind those whose sizes it reads."""
    statements = list(plan.init)
    defaults: dict[str, int] = {}
    reads: dict[str, set[str]] = {}
    for place, statement in enumerate(statements):
        found = [node for node in descendants(statement) if isinstance(node, cst.Attribute)]
        names = [one.attr.value for one in found if is_name(one.value, "self")]
        if names and names[0] in plan.built:
            defaults[names[0]] = place
            reads[names[0]] = {*names[1:]}
    left = dict(defaults)
    for place in defaults.values():
        ready = (name for name in left if not reads[name] & (left.keys() - {name}))
        statements[place] = plan.init[left.pop(next(ready, next(iter(left))))]
    return statements


def _joined_to_tuples(cls: LinenClass) -> set[str]:
    """Return the fields that code adds to tuples: Linen makes tuples of the lists that it is given."""
    found: set[str] = set()
    for owner in cls.ancestry():
        for node in descendants(owner.node):
            if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
                sides = (node.left, node.right)
                if any(isinstance(side, cst.Tuple) for side in sides):
                    found |= {dotted(side).removeprefix("self.") for side in sides}
    return found


_END: Final = cst.TrailingWhitespace()
_PASS: Final = cst.SimpleStatementLine([cst.Pass()])


def _below(
    comments: Sequence[cst.EmptyLine], statements: Sequence[cst.BaseStatement]
) -> list[cst.BaseStatement]:
    """Return statements with comments above the first one."""
    first, *others = statements or [_PASS]
    if not statements and not comments:
        return []
    lines: Sequence[cst.EmptyLine] = getattr(first, "leading_lines", ())
    return [first.with_changes(leading_lines=[*comments, *lines]), *others]


def _function(
    positional: Sequence[cst.Param],
    keywords: Sequence[cst.Param],
    body: Sequence[cst.BaseStatement],
    args: cst.Param | cst.MaybeSentinel = cst.MaybeSentinel.DEFAULT,
    kwargs: cst.Param | None = None,
) -> cst.FunctionDef:
    """Return a constructor."""
    every = [cst.Param(cst.Name("self")), *positional]
    parameters = cst.Parameters(every, args, keywords, kwargs)
    return cst.FunctionDef(
        cst.Name("__init__"),
        parameters,
        cst.IndentedBlock(body),
        returns=cst.Annotation(cst.Name("None")),
    )


def _param(
    name: str, annotation: cst.BaseExpression, default: cst.BaseExpression | None = None
) -> cst.Param:
    return cst.Param(cst.Name(name), cst.Annotation(annotation), default=default)


def _or_none(annotation: cst.BaseExpression, file: File) -> cst.BaseExpression:
    """Return a type that allows None; as text where Python would compute it and it may be no type.

    A person may have written a function, as in ``np.array``.
    """
    code = code_of(annotation)
    is_open = code.startswith("Optional") or code.endswith("None")
    if is_open or isinstance(annotation, cst.BaseString):
        return annotation
    both = cst.BinaryOperation(annotation, cst.BitOr(), _NONE)
    last = dotted(annotation).rpartition(".")[2]
    later = file.analysis.scope.imports.get("annotations")
    is_computed = later is None or later.full != "__future__.annotations"
    if is_computed and last.islower() and last not in _LOWER_CASE_TYPES:
        return cst.SimpleString(f'"{code_of(both)}"')
    return both


_LOWER_CASE_TYPES: Final = frozenset(
    {
        *("bool", "bytes", "complex", "dict", "dtype", "float", "frozenset", "int", "list"),
        *("ndarray", "object", "partial", "set", "slice", "str", "tuple", "type"),
    }
)


_NONE: Final = cst.Name("None")
_SIZE: Final = cst.Name("int")
_SIZES: Final = cst.parse_expression("tuple[int, ...]")
_SHAPES: Final = cst.parse_expression("tuple[tuple[int, ...], ...]")
_FROM_TRACE: Final = cst.Comma(
    whitespace_after=cst.ParenthesizedWhitespace(
        cst.TrailingWhitespace(cst.SimpleWhitespace("  "), cst.Comment("# from trace"))
    )
)


def _lifted(one: Lifted, file: File) -> cst.Param:
    kind = _SIZES if one.is_several else _SIZE
    if one.default.startswith("(("):
        kind = _SHAPES
    if one.default:
        default = cst.parse_expression(one.default)
        return _param(one.name, kind, default).with_changes(comma=_FROM_TRACE)
    if one.is_optional:
        return _param(one.name, _or_none(kind, file), _NONE)
    return _param(one.name, kind)


def _parameter(one: Field, file: File, plan: ClassPlan, *, is_tuple: bool) -> _Parameter:
    annotation = _annotation(one, file)
    name = cst.Name(one.name)
    held: cst.BaseExpression = name
    if one.name in plan.containers:
        held = cst.Call(file.refer(plan.containers[one.name]), [cst.Arg(name)])
        held = _unless_none(name, held) if may_be_none(one) else held
    elif holds_arrays(one, is_of_call=_is_of_call(one, plan)):
        held = cst.Call(file.refer("nnx.data"), [cst.Arg(name)])
    elif is_tuple:
        held = cst.Call(cst.Name("tuple"), [cst.Arg(name)])
        held = _unless_none(name, held) if may_be_none(one) else held
    target = cst.Attribute(cst.Name("self"), name)
    line = _assigned(target, held)
    is_keyword = one.is_keyword or _is_keyword_class(one.owner)
    default = one.default
    if (default is None and one.name in plan.optional) or one.name in plan.built:
        lines = () if one.name in plan.built else (line,)
        return _Parameter(_param(one.name, _or_none(annotation, file), _NONE), lines, is_keyword)
    if default is None:
        return _Parameter(_param(one.name, annotation), (line,), is_keyword)
    options = field_options(one, default)
    if options is None:
        written = _default(default, one, file, plan.defaults.get(one.name, ""))
        return _Parameter(_param(one.name, annotation, written), (line,), is_keyword)
    is_keyword = is_keyword or code_of(options.get("kw_only", cst.Name("False"))) == "True"
    factory, value = options.get("default_factory"), options.get("default")
    made = _made(translated(factory, one, file)) if factory is not None else None
    value = translated(value, one, file) if value is not None else None
    if "init" in options and code_of(options["init"]) == "False":
        made = made or value
        return _Parameter(None, () if made is None else (_assigned(target, made),))
    if made is not None:
        param = _param(one.name, _or_none(annotation, file), _NONE)
        unset = _assigned(name, _unless_none(name, name, made))
        return _Parameter(param, (unset, line), is_keyword)
    return _Parameter(_param(one.name, annotation, value), (line,), is_keyword)


def _is_of_call(one: Field, plan: ClassPlan) -> bool:
    """Whether methods are given a field as well, where only their callers know it."""
    given = [each for keywords in plan.keywords.values() for each in keywords if not each.path]
    return one.name in plan.optional or any(each.field == one.name for each in given)


def _made(factory: cst.BaseExpression) -> cst.BaseExpression:
    """Return what a function without parameters returns."""
    if isinstance(factory, cst.Lambda):
        return wrapped(factory.body)
    return cst.Call(wrapped(factory))


def _unless_none(
    name: cst.Name, value: cst.BaseExpression, otherwise: cst.BaseExpression = _NONE
) -> cst.IfExp:
    """Return `None if name is None else value`."""
    test = cst.Comparison(name, [cst.ComparisonTarget(cst.Is(), _NONE)])
    return cst.IfExp(test, otherwise, value)


def _assigned(
    target: cst.Name | cst.Attribute, value: cst.BaseExpression
) -> cst.SimpleStatementLine:
    return cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(target)], value)])


def _default(node: cst.BaseExpression, one: Field, file: File, code: str) -> cst.BaseExpression:
    """Return the code of a default.

    Args:
        node: The default in Linen.
        one: The field.
        file: The file.
        code: The default where it is not just that of Linen with other names, else empty.
    """
    if not code:
        return translated(node, one, file)
    written = cst.parse_expression(code)
    return written_with(written, _defaults_named(written, one, file))


def _is_keyword_class(cls: LinenClass) -> bool:
    return any(
        arg.keyword is not None and arg.keyword.value == "kw_only" and dotted(arg.value) == "True"
        for arg in cls.node.keywords
    )


def _comments(one: Field) -> tuple[list[cst.EmptyLine], cst.TrailingWhitespace | None]:
    """Return the comments above a field, and the one behind it."""
    for statement in one.owner.node.body.body:
        if isinstance(statement, cst.SimpleStatementLine) and one.statement in statement.body:
            above = [
                cst.EmptyLine(comment=line.comment)
                for line in statement.leading_lines
                if line.comment
            ]
            end = statement.trailing_whitespace
            return above, end if end.comment is not None else None
    return [], None


def translated(node: cst.BaseExpression, one: Field, file: File) -> cst.BaseExpression:
    """Return an annotation or default with the names of NNX."""
    replacements: dict[cst.CSTNode, cst.BaseExpression] = {
        below: file.refer(name) for below, name in names_in_nnx(node, one.owner.analysis)
    }
    replacements |= _defaults_named(node, one, file)
    replacements |= clashing_names(node, one.owner.analysis, file)
    for below in reversed(list(descendants(node))):  # the inner ones first
        if isinstance(below, cst.Call) and is_partitioning_in(below, one.owner.analysis):
            replacements[below] = placed_later(written_with(below, replacements))
    return written_with(node, replacements)


def _annotation(one: Field, file: File) -> cst.BaseExpression:
    """Return the type of a field; ``Any`` where its file has a name for type checkers only."""
    node = one.annotation.annotation
    home, target = one.owner.analysis, file.analysis
    apart = {name for name, found in home.scope.imports.items() if found.is_apart}
    if home is not target:
        node = _unquoted(node)
        if apart & names_read(node) - {*target.scope.imports}:
            return file.refer("typing.Any")
    return translated(node, one, file)


def _unquoted(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return a type that is text as code, so that its names can be imported."""
    text = text_of(node)
    try:
        return node if text is None else cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return node


def _defaults_named(
    node: cst.BaseExpression, one: Field, file: File
) -> dict[cst.CSTNode, cst.BaseExpression]:
    """Return the defaults of other fields for their names: in the body of a class they are values."""
    before = {}
    for field in one.owner.fields():
        if field.name == one.name:
            break
        if field.owner is one.owner and field.default is not None:
            before[field.name] = field
    names: dict[cst.CSTNode, cst.BaseExpression] = {}
    for below in names_read_in_class(node):
        named = before.get(below.value)
        if named is not None and named.default is not None:
            default = translated(named.default, named, file)
            names[below] = default if below is node else wrapped(default)
    return names


def names_read_in_class(node: cst.CSTNode) -> Iterator[cst.Name]:
    """Yield the names that a part of the body of a class reads in it."""
    match node:
        case cst.Name():
            yield node
        case cst.Attribute(value=value) | cst.Arg(value=value):
            yield from names_read_in_class(value)
        case cst.FunctionDef(decorators=decorators, params=params):
            for part in (*decorators, params):
                yield from names_read_in_class(part)
        case cst.Param(default=default):
            if default is not None:
                yield from names_read_in_class(default)
        case cst.AssignTarget() | cst.ClassDef():
            return
        case cst.Lambda() | cst.BaseComp() | cst.Annotation():
            return  # functions do not see the names of a class
        case _:
            for child in node.children:
                yield from names_read_in_class(child)


def without_dataclass_options(node: cst.ClassDef) -> cst.ClassDef:
    """Return a class definition without the keywords of a dataclass."""
    kept = [arg for arg in node.keywords if arg.keyword and arg.keyword.value != "kw_only"]
    if len(kept) == len(node.keywords):
        return node
    bases = list(node.bases)
    if kept:
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    elif bases:
        bases[-1] = bases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return node.with_changes(bases=bases, keywords=kept)
