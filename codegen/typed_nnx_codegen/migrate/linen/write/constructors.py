"""Writes the constructor of a module: parameters, lines, and the names that they need."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted, text_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass
from typed_nnx_codegen.migrate.linen.domain.code import code_with, written_with
from typed_nnx_codegen.migrate.linen.domain.names import names_in_nnx
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


def borrowed_name(name: str, home: Analysis, file: File) -> str:
    """Return how a file spells a name that another file defines; it imports it where it does not yet.

    Args:
        name: The name.
        home: The file that defines it.
        file: The file in which it is spelled.
    """
    target = file.analysis
    binding = target.scope.imports.get(name)
    is_there = binding is not None and not binding.is_apart and is_same_name(name, home, target)
    if home is target or is_there:
        return name
    found = file.names.find(f"{home.module}.{name}", target.scope)
    if found is not None:
        return code_of(found)
    statement = import_of(name, home, target)
    local = name
    if name in target.scope.seen or file.names.added.get(name, statement) != statement:
        local = f"{home.module.rpartition('.')[2]}_{name}"
        statement = f"{statement} as {local}"
    file.names.added.setdefault(local, statement)
    return local


def clashing_names(node: cst.CSTNode, home: Analysis, file: File) -> dict[cst.CSTNode, str]:
    """Return other names for those in inherited code that mean something else in a file.

    The file imports what they mean under these names.

    Args:
        node: The code.
        home: The file that it comes from.
        file: The file that it is written to.
    """
    target = file.analysis
    if home is target:
        return {}
    read = names_read(node)
    found: dict[cst.CSTNode, str] = {}
    for below in (node, *descendants(node)):
        if not isinstance(below, cst.Name) or below.value not in read:
            continue
        name = below.value
        is_defined = name not in home.scope.imports
        if is_defined and means_another(name, home, target):
            found[below] = borrowed_name(name, home, file)
    return found


_FIELD_FUNCTIONS: Final = frozenset(
    {"dataclasses.field", "flax.struct.field", "flax.linen.kw_only_dataclasses.field"}
)


@dataclass(frozen=True)
class _Parameter:
    """A parameter of the constructor, and how its field is set.

    Attributes:
        name: The field.
        text: The parameter; empty where the field is no parameter.
        lines: The lines that set the field.
        is_keyword: Whether it is given by name only.
    """

    name: str
    text: str
    lines: tuple[str, ...]
    is_keyword: bool = False


def constructor_of(plan: ClassPlan, cls: LinenClass, file: File) -> cst.FunctionDef:
    """Return the constructor of a module.

    Args:
        plan: What becomes of it.
        cls: The module.
        file: The file that it is in.
    """
    if plan.derives is not None:
        return _of_subclass(cls, file)
    fields = [_parameter(one, cls, file, plan) for one in cls.fields()]
    parameters = [one.text for one in fields if one.text and not one.is_keyword]
    keywords = [one.text for one in fields if one.text and one.is_keyword]
    keywords += [_lifted(one) for one in plan.lifted]
    keywords.append(f"rngs: {code_of(file.refer('nnx.Rngs'))}")
    ends = {_lifted(one): ",  # from trace\n" for one in plan.lifted if one.default}
    every = ["self", *parameters, "*", *keywords]
    header = "".join(f"{one}{ends.get(one, ', ')}" for one in every).removesuffix(", ")
    lines = [line for one in fields for line in one.lines]
    lines += [MODE_LINE] if plan.asks_mode else []
    text = "\n".join(f"    {line}" for line in lines or ["pass"])
    node = cst.parse_statement(f"def __init__({header}) -> None:\n{text}\n")
    assert isinstance(node, cst.FunctionDef)
    block = node.body
    assert isinstance(block, cst.IndentedBlock)
    block = block if lines or not plan.init else block.with_changes(body=[])
    node = node.with_changes(body=_continued(block, plan.init, file))
    import_inherited(node, plan, file)
    bound = {one.value for one in descendants(node.body) if isinstance(one, cst.Name)}
    node = without_unread(with_comprehensions(node), bound, pure_in(file.analysis))
    return simple(node)


def _continued(
    block: cst.IndentedBlock, statements: Sequence[cst.BaseStatement], file: File
) -> cst.IndentedBlock:
    """Return the lines for fields with the statements behind them."""
    if not statements:
        return block
    first, *others = statements
    above: Sequence[cst.EmptyLine] = getattr(first, "leading_lines", ())
    first = first.with_changes(leading_lines=[*block.footer, *above])
    after = block.with_changes(body=[*block.body, first, *others], footer=[])
    products = [one for one in descendants(after) if dotted(one) == "math.prod"]
    name = code_of(file.refer("math.prod")) if products else ""
    return written_with(after, dict.fromkeys(products, name))


def _of_subclass(cls: LinenClass, file: File) -> cst.FunctionDef:
    """Return the constructor of a class that derives from a layer, with its defaults."""
    anything = code_of(file.refer("typing.Any"))
    names: list[str] = []
    parameters = ["self", f"*args: {anything}"]
    for one in cls.own_fields:
        annotation = _annotation(one, file)
        assert one.default is not None
        names.append(one.name)
        parameters.append(f"{one.name}: {annotation} = {_default(one.default, one, file, '')}")
    header = ", ".join([*parameters, f"**kwargs: {anything}"])
    given = ", ".join(["*args", *(f"{name}={name}" for name in names), "**kwargs"])
    node = cst.parse_statement(f"def __init__({header}) -> None:\n    super().__init__({given})\n")
    assert isinstance(node, cst.FunctionDef)
    return node


def _lifted(one: Lifted) -> str:
    kind = "tuple[int, ...]" if one.is_several else "int"
    if one.default:
        return f"{one.name}: {kind} = {one.default}"
    return f"{one.name}: {kind} | None = None" if one.is_optional else f"{one.name}: {kind}"


def _parameter(one: Field, cls: LinenClass, file: File, plan: ClassPlan) -> _Parameter:
    annotation = _annotation(one, file)
    text = f"{one.name}: {annotation}"
    above, behind = _comments(one) if one.owner is cls else ((), "")
    held = one.name
    if one.name in plan.containers:
        held = f"{code_of(file.refer(plan.containers[one.name]))}({one.name})"
        if may_be_none(one):
            held = f"None if {one.name} is None else {held}"
    elif holds_arrays(one, is_of_call=one.name in plan.optional):
        held = f"{code_of(file.refer('nnx.data'))}({one.name})"
    line = f"self.{one.name} = {held}{behind}"
    is_keyword = one.is_keyword or _is_keyword_class(one.owner)
    default = one.default
    if (default is None and one.name in plan.optional) or one.name in plan.built:
        quoted = annotation.startswith(("'", '"'))
        is_open = quoted or annotation.endswith("None") or annotation.startswith("Optional")
        text = text if is_open else f"{text} | None"
        lines = above if one.name in plan.built else (*above, line)
        return _Parameter(one.name, f"{text} = None", lines, is_keyword)
    if default is None:
        return _Parameter(one.name, text, (*above, line), is_keyword)
    options = _field_options(default, one)
    if options is None:
        code = _default(default, one, file, plan.defaults.get(one.name, ""))
        return _Parameter(one.name, f"{text} = {code}", (*above, line), is_keyword)
    is_keyword = is_keyword or code_of(options.get("kw_only", cst.Name("False"))) == "True"
    factory, value = options.get("default_factory"), options.get("default")
    made = ""
    if factory is not None:
        code = translated(factory, one, file)
        made = f"{code}()" if isinstance(factory, (cst.Name, cst.Attribute)) else f"({code})()"
    if "init" in options and code_of(options["init"]) == "False":
        made = made or (translated(value, one, file) if value is not None else "")
        lines = (*above, f"self.{one.name} = {made}{behind}") if made else above
        return _Parameter(one.name, "", lines)
    if made:
        text = f"{one.name}: {annotation} | None = None"
        unset = f"{one.name} = {made} if {one.name} is None else {one.name}"
        return _Parameter(one.name, text, (*above, unset, line), is_keyword)
    if value is not None:
        text = f"{text} = {translated(value, one, file)}"
    return _Parameter(one.name, text, (*above, line), is_keyword)


def _default(node: cst.BaseExpression, one: Field, file: File, code: str) -> str:
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
    return code_with(written, _defaults_named(written, one, file))


def _field_options(default: cst.BaseExpression, one: Field) -> dict[str, cst.BaseExpression] | None:
    """Return the arguments of `dataclasses.field`; None where the default is no call of it."""
    if not isinstance(default, cst.Call):
        return None
    value = one.owner.analysis.values.get(default.func, UNKNOWN)
    if not isinstance(value, External) or value.name not in _FIELD_FUNCTIONS:
        return None
    return {arg.keyword.value: arg.value for arg in default.args if arg.keyword is not None}


def _is_keyword_class(cls: LinenClass) -> bool:
    return any(
        arg.keyword is not None and arg.keyword.value == "kw_only" and dotted(arg.value) == "True"
        for arg in cls.node.keywords
    )


def _comments(one: Field) -> tuple[tuple[str, ...], str]:
    """Return the comments above a field, and the one behind it."""
    for statement in one.owner.node.body.body:
        if isinstance(statement, cst.SimpleStatementLine) and one.statement in statement.body:
            above = [each.comment.value for each in statement.leading_lines if each.comment]
            end = statement.trailing_whitespace.comment
            return tuple(above), f"  {end.value}" if end is not None else ""
    return (), ""


def translated(node: cst.BaseExpression, one: Field, file: File) -> str:
    """Return the code of an annotation or default, with the names of NNX."""
    replacements: dict[cst.CSTNode, str] = {
        below: code_of(file.refer(name)) for below, name in names_in_nnx(node, one.owner.analysis)
    }
    replacements |= _defaults_named(node, one, file)
    replacements |= clashing_names(node, one.owner.analysis, file)
    for below in reversed(list(descendants(node))):  # the inner ones first
        if isinstance(below, cst.Call) and is_partitioning_in(below, one.owner.analysis):
            call = cst.parse_expression(code_with(below, replacements))
            assert isinstance(call, cst.Call)
            replacements[below] = code_of(placed_later(call))
    return code_with(node, replacements)


def _annotation(one: Field, file: File) -> str:
    """Return the type of a field; ``Any`` where its file has a name for type checkers only."""
    node = one.annotation.annotation
    home, target = one.owner.analysis, file.analysis
    apart = {name for name, found in home.scope.imports.items() if found.is_apart}
    if home is not target:
        node = _unquoted(node)
        if apart & names_read(node) - {*target.scope.imports}:
            return code_of(file.refer("typing.Any"))
    return translated(node, one, file)


def _unquoted(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return a type that is text as code, so that its names can be imported."""
    text = text_of(node)
    try:
        return node if text is None else cst.parse_expression(text)
    except cst.ParserSyntaxError:
        return node


def _defaults_named(node: cst.BaseExpression, one: Field, file: File) -> dict[cst.CSTNode, str]:
    """Return the defaults of other fields for their names: in the body of a class they are values.

    Args:
        node: The default of a field.
        one: The field.
        file: The file.
    """
    before = {}
    for field in one.owner.fields():
        if field.name == one.name:
            break
        if field.owner is one.owner and field.default is not None:
            before[field.name] = field
    names: dict[cst.CSTNode, str] = {}
    for below in names_read_in_class(node):
        named = before.get(below.value)
        if named is not None and named.default is not None:
            code = translated(named.default, named, file)
            is_atom = isinstance(named.default, (cst.Name, cst.Attribute, cst.BaseNumber))
            is_alone = is_atom or below is node or isinstance(named.default, cst.SimpleString)
            names[below] = code if is_alone else f"({code})"
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
