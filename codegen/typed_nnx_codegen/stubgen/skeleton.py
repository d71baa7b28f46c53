"""The stub of a module: its source without bodies, with declared definitions in their places."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from typed_nnx_codegen.stubgen.classes import class_stub
from typed_nnx_codegen.stubgen.declarations import ModuleStub
from typed_nnx_codegen.stubgen.errors import StubError
from typed_nnx_codegen.stubgen.functions import function_stub, is_overload
from typed_nnx_codegen.stubgen.imports import import_lines
from typed_nnx_codegen.stubgen.statements import (
    assigned_name,
    assignment_stub,
    code_of,
    unconditional,
)


def stub_text(source: str, stub: ModuleStub) -> str:
    """Return the text of a stub file, without its header.

    Args:
        source: The source of the module.
        stub: What is declared about it.

    Raises:
        StubError: A declared name is not in the source, or the source has what a stub cannot say.
    """
    module = cst.parse_module(source)
    statements = list(unconditional(module.body))
    preamble = stub.preamble.strip("\n")
    _check_syntax(stub.module, "the preamble", preamble)
    code = f"{preamble}\n\n{''.join(_definitions(stub, statements))}"
    text = f"{import_lines(statements, stub.imports, code)}\n{code}"
    return re.sub(r"\n{3,}", "\n\n", text).strip("\n") + "\n"


def _definitions(stub: ModuleStub, statements: Sequence[cst.BaseStatement]) -> Iterator[str]:
    """Yield the text of each definition, in the order of the source."""
    written: set[str] = set()
    declared: Mapping[str, str] = stub.definitions
    overloaded: set[str] = set()
    for statement in statements:
        name = _name_of(statement)
        if name is None:
            continue
        if name in declared:
            if name not in written:
                written.add(name)
                _check_syntax(stub.module, f"the definition of {name!r}", declared[name])
                yield "\n" + declared[name].strip("\n") + "\n\n"
            continue
        if isinstance(statement, cst.FunctionDef):
            if is_overload(statement):
                overloaded.add(name)
            elif name in overloaded:
                continue  # the implementation, which checkers do not look at
            yield code_of(function_stub(statement))
        elif isinstance(statement, cst.ClassDef):
            yield "\n" + code_of(class_stub(statement, stub.module)) + "\n"
        else:
            yield assignment_stub(statement, stub.module)
    missing = declared.keys() - written
    if missing:
        raise StubError(
            stub.module,
            f"the declared names {sorted(missing)} are not in its source",
            "rename them in the family that declares them",
        )


def _name_of(statement: cst.BaseStatement) -> str | None:
    """Return the name that a statement at the top level defines, if it is one for a stub."""
    if isinstance(statement, cst.FunctionDef | cst.ClassDef):
        return statement.name.value
    return assigned_name(statement)


def _check_syntax(module: str, what: str, text: str) -> None:
    try:
        cst.parse_module(text)
    except cst.ParserSyntaxError as error:
        raise StubError(
            f"{module}, {what}",
            f"this is no Python: {error.message} in line {error.raw_line}",
            "correct the text that the family builds",
        ) from None
