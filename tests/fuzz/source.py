"""What a generated program is: statements, written as Python, and how it is cut down."""

from __future__ import annotations

import dataclasses
import re
import typing as tp

INDENT = "    "


@dataclasses.dataclass(frozen=True)
class Line:
    """One statement that is a line of Python.

    Attributes:
        text: The line.
        simpler: Texts that may take its place when the program is cut down.
    """

    text: str

    def lines(self) -> list[str]:
        return self.text.split("\n")


@dataclasses.dataclass(frozen=True)
class Function:
    """A function definition.

    Attributes:
        name: Its name.
        head: Parameters.
        before: Lines of the body before the statements, such as unpacking a carry.
        body: The statements.
        result: What it returns.
        decorator: The transform, or "".
        after: Lines behind the definition.
    """

    name: str
    head: str
    before: tuple[str, ...]
    body: tuple[Statement, ...]
    result: str
    decorator: str = ""
    after: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        inner = [*self.before, *(line for s in self.body for line in s.lines())]
        inner.append(f"return {self.result}")
        first = [self.decorator] if self.decorator else []
        head = [*first, f"def {self.name}({self.head}):"]
        return [*head, *(INDENT + line for line in inner), *self.after]


Statement = Line | Function


@dataclasses.dataclass(frozen=True)
class Program:
    """A whole program.

    Attributes:
        seed: What it was made from.
        closures: Whether functions close over objects.
        setup: Lines that make the objects.
        body: The statements.
    """

    seed: str
    closures: bool
    setup: tuple[Line, ...]
    body: tuple[Statement, ...]

    def source(self) -> str:
        """Return the program as the source of a function of the library and the helpers."""
        lines = ["def program(nnx, H):", INDENT + "pass"]
        for statement in (*self.setup, *self.body):
            lines += [INDENT + line for line in statement.lines()]
        return "\n".join(lines) + "\n"


# -- cutting down -------------------------------------------------------------------------------------


def smaller(program: Program) -> tp.Iterator[Program]:
    """Yield programs with something left out, the larger cuts first."""
    for n in reversed(range(len(program.body))):
        body = (*program.body[:n], *program.body[n + 1 :])
        yield dataclasses.replace(program, body=body)
    for n, statement in enumerate(program.body):
        for less in smaller_statement(statement):
            body = (*program.body[:n], *less, *program.body[n + 1 :])
            yield dataclasses.replace(program, body=body)
    for n in reversed(range(len(program.setup))):
        setup = (*program.setup[:n], *program.setup[n + 1 :])
        yield dataclasses.replace(program, setup=setup)


def smaller_statement(statement: Statement) -> tp.Iterator[tuple[Statement, ...]]:
    """Yield what may take the place of a statement."""
    if isinstance(statement, Line):
        for old, new in SIMPLER:
            text = re.sub(old, new, statement.text)
            if text != statement.text:
                yield (Line(text),)
        return
    yield statement.body
    for n in reversed(range(len(statement.body))):
        body = (*statement.body[:n], *statement.body[n + 1 :])
        yield (dataclasses.replace(statement, body=body),)
    if statement.decorator:
        for old, new in SIMPLER:
            text = re.sub(old, new, statement.decorator)
            if text != statement.decorator:
                yield (dataclasses.replace(statement, decorator=text),)
        if "jit" in statement.decorator or "remat" in statement.decorator:
            yield (dataclasses.replace(statement, decorator=""),)
    if statement.result.startswith("x, "):
        yield (dataclasses.replace(statement, result="x"),)
    for n, inner in enumerate(statement.body):
        for less in smaller_statement(inner):
            body = (*statement.body[:n], *less, *statement.body[n + 1 :])
            yield (dataclasses.replace(statement, body=body),)


SIMPLER = (
    (r", note=\d", ""),
    (r"nnx\.(BatchStat|Variable)\(", "nnx.Param("),
    (r"nnx\.StateAxes\(\{.*?\}\)", "None"),
    (r"nnx\.StateAxes\(\{.*?\}\)", "0"),
    (r"H\.(v|m|o|l|p)\(\d, ", r"H.\1(0, "),
    (r"nnx\.remat", "nnx.jit"),
    (r"nnx\.value_and_grad", "nnx.grad"),
    (r"H\.(\w)\((\d), [^()]*, (\w+)\)", r"H.\1(\2, \3)"),
    (r"H\.(\w)\((\d), (\w+),[^()]*\)", r"H.\1(\2, \3)"),
    (r"fori_loop\(0, \d", "fori_loop(0, 1"),
)
