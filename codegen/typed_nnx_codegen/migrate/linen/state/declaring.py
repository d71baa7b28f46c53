"""Where variables are declared: their names, their attributes, the lines that make them."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.marker_codes import NAME
from typed_nnx_codegen.migrate.linen.plan import Condition
from typed_nnx_codegen.migrate.linen.running.frames import (
    Compound,
    Frame,
    Line,
    Recorder,
    VariableSite,
)
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import SelfValue
from typed_nnx_codegen.migrate.linen.running.values import Array, Const, Value
from typed_nnx_codegen.migrate.linen.state.first_values import Made
from typed_nnx_codegen.migrate.linen.state.modes import MODE
from typed_nnx_codegen.migrate.linen.transforms.constructing import Stack

TYPES: Final = {
    "params": "nnx.Param",
    "batch_stats": "nnx.BatchStat",
    "cache": "nnx.Cache",
    "intermediates": "nnx.Intermediate",
    "perturbations": "nnx.Perturbation",
}
# What every module of NNX has.
_OF_NNX: Final = frozenset(
    {"train", "eval", "sow", "perturb", "set_attributes", "iter_modules", MODE}
)


@dataclass(frozen=True)
class VariableName:
    """The name that a variable is given.

    Attributes:
        text: The name; with ``{i}`` for what is computed.
        code: The expression for it in the constructor, a template.
        node: It as the method has it.
        is_literal: Whether the method spells it out.
    """

    text: str
    code: str
    node: cst.BaseExpression
    is_literal: bool

    @property
    def is_pattern(self) -> bool:
        """Whether it is known only where the module is constructed."""
        return "{" in self.text


class Declaring:
    """Declares variables.

    Args:
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        refer: Callable[[str], str],
    ) -> None:
        self._refer = refer

    # -- names --------------------------------------------------------------------------------

    def name_of(self, given: Passed, frame: Frame) -> VariableName | None:
        """Return the name that a variable is given; None where the constructor cannot say it."""
        node = given.node
        is_literal = isinstance(node, (cst.SimpleString, cst.ConcatenatedString))
        if isinstance(given.value, Const):
            text = str(given.value.value)
            return VariableName(text, repr(text), node, is_literal)
        known = self._formatted(node, frame)
        if known is not None and "{" not in known:
            return VariableName(known, repr(known), node, is_literal=False)
        if given.code is None:
            return None
        field = _field_in(given.code, frame)
        pattern = known or (f"{{{field}}}" if field else "{name}")
        return VariableName(pattern, given.code, node, is_literal=False)

    def _formatted(self, node: cst.BaseExpression, frame: Frame) -> str | None:
        """Return the text of an f-string, with names in braces for what is not literal."""
        if not isinstance(node, cst.FormattedString):
            return None
        letters = iter("ijklmnopq")
        text = ""
        for part in node.parts:
            if isinstance(part, cst.FormattedStringText):
                text += part.value
                continue
            assert isinstance(part, cst.FormattedStringExpression)
            value = frame.seen(part.expression)
            is_plain = part.format_spec is None and part.conversion is None
            if isinstance(value, Const) and is_plain:
                text += str(value.value)
            else:
                code = code_of(part.expression)
                field = _field_in(code, frame) if frame.records and is_plain else ""
                text += f"{{{field or next(letters, 'z')}}}"
        return text

    # -- attributes ---------------------------------------------------------------------------

    def attribute(self, collection: str, name: VariableName, frame: Frame) -> str:
        """Return the attribute for a variable: its name, unless something else has that."""
        recorder = frame.recorder
        known = recorder.variables.get(f"{collection}/{name.text}")
        if known is not None:
            return known.attribute
        return self.free(name.text, recorder, collection, name.is_pattern)

    @staticmethod
    def free(text: str, recorder: Recorder, collection: str, is_pattern: bool = False) -> str:
        """Return an attribute that nothing else has, after a name.

        Args:
            text: The name.
            recorder: What was seen of the module.
            collection: The collection of the variable.
            is_pattern: Whether the name has parts in braces.
        """
        candidate = text
        if not is_pattern:
            candidate = re.sub(r"\W", "_", text)
            candidate += "_" if keyword.iskeyword(candidate) else ""
            candidate = f"variable_{candidate}" if not candidate[:1].isidentifier() else candidate
        cls = recorder.plan.cls
        taken = {one.name for one in cls.fields()} | set(cls.methods()) | _OF_NNX
        taken |= {one.attribute for one in recorder.variables.values()}
        if recorder.instance is not None:
            taken |= set(recorder.instance.attributes)
        if recorder.setup_target is not None:
            taken.add(recorder.setup_target[1])  # it is computed from the variable
        if candidate in taken:
            candidate = f"{candidate}_variable"
        while candidate in taken:
            part = re.sub(r"\W", "_", collection)
            candidate = f"{candidate}_of_{part}"
        return candidate

    # -- declarations -------------------------------------------------------------------------

    def kind(self, collection: str) -> str:
        """Return the expression for the type of the variables of a collection."""
        known = TYPES.get(collection)
        if known is not None:
            return self._refer(known)
        function = self._refer("nnx.variable_type_from_name")
        return f"{function}({collection!r}, allow_register=True)"

    def declare(
        self,
        collection: str,
        name: VariableName,
        made: Made,
        value: Value,
        node: cst.Call,
        frame: Frame,
        *,
        stays: bool = False,
    ) -> str:
        """Write the line that makes a variable, and what stands for the call that declared it.

        Args:
            collection: Its collection.
            name: Its name.
            made: The code of its first value.
            value: What is known of it.
            node: The call.
            frame: The frame.
            stays: Whether the call stays.

        Returns:
            Its attribute.
        """
        recorder = frame.recorder
        code = f"{self.kind(collection)}({made.code})"
        target = recorder.setup_target if frame.verbatim else None
        if target is not None and target[0] is node:
            self._in_setup(collection, name, made, value, target[1], node, frame)
            return target[1]
        attribute = self.attribute(collection, name, frame)
        if name.is_pattern and self._clashes(name, attribute, recorder):
            recorder.mark(node, "its computed name may be that of another attribute", NAME)
        if recorder.loops and not name.is_pattern and name.is_literal:
            recorder.mark(node, "a variable that is declared in a loop", NAME)
        self._write(f"{collection}/{name.text}", attribute, name, code, made, frame)
        site = VariableSite(node, collection, name.text, attribute, code, value, frame.verbatim)
        recorder.variables[f"{collection}/{name.text}"] = site
        around = [one for one in recorder.stacks if isinstance(one, Stack)]
        if any(one.lift.stacks(frozenset({collection})) for one in around):
            recorder.mark(node, "a variable that is declared under a transform that stacks it")
        if not stays:
            owner = recorder.owner or "self"
            recorder.replace(node, self.reading(owner, attribute, name, collection, value))
        return attribute

    @staticmethod
    def reading(
        owner: str, attribute: str, name: VariableName, collection: str, value: Value
    ) -> str:
        """Return what stands for the declaration of a variable in a method."""
        where = f"{owner}.{attribute}"
        if not name.is_literal:
            where = f"getattr({owner}, {code_of(name.node)})"
        if collection != "params":
            return where
        return f"{where}[...]" if isinstance(value, Array) else f"{where}.get_value()"

    def _in_setup(
        self,
        collection: str,
        name: VariableName,
        made: Made,
        value: Value,
        attribute: str,
        node: cst.Call,
        frame: Frame,
    ) -> None:
        """Make a variable where `setup` assigns it to an attribute."""
        recorder = frame.recorder
        code = f"{self.kind(collection)}({made.code})"
        key = f"{collection}/{name.text}"
        recorder.variables[key] = VariableSite(
            node, collection, name.text, attribute, code, value, is_verbatim=True
        )
        conditions = tuple(one for one in recorder.conditions if not one.is_of_call)
        recorder.declared.setdefault(key, []).append(conditions)
        recorder.called.setdefault(key, []).append(())
        if collection == "params":
            recorder.params[attribute] = isinstance(value, Array)
        for line in made.lines:
            recorder.block.append(Line(line))
        recorder.replace(node, code)

    def _write(
        self,
        key: str,
        attribute: str,
        name: VariableName,
        code: str,
        made: Made,
        frame: Frame,
    ) -> None:
        """Write the line that makes a variable, once on each way through the constructor."""
        recorder = frame.recorder
        now = tuple(one for one in recorder.conditions if not one.is_of_call)
        calls = tuple(one for one in recorder.conditions if one.is_of_call)
        recorder.called.setdefault(key, []).append(calls)
        before = recorder.declared.setdefault(key, [])
        if any(now[: len(one)] == one for one in before) and not recorder.loops:
            return
        target = f"self.{attribute} = {code}"
        if name.is_pattern or (not name.is_literal and recorder.loops):
            target = f"setattr(self, {name.code}, {code})"
        lines = [Line(text) for text in (*made.lines, target)]
        if before and not all(_excludes(now, one) for one in before):
            spelled = name.code if name.is_pattern else repr(attribute)
            recorder.block.append(Compound(f"if not hasattr(self, {spelled}):", [*lines]))
        else:
            recorder.block += lines
        before.append(now)

    @staticmethod
    def _clashes(name: VariableName, attribute: str, recorder: Recorder) -> bool:
        """Whether the names that a pattern stands for may be those of other attributes."""
        if attribute != name.text:
            return True
        parts = re.split(r"\{\w+\}", name.text)
        if not any(parts):
            return False
        wanted = re.compile(".+".join(re.escape(part) for part in parts))
        cls = recorder.plan.cls
        taken = {one.name for one in cls.fields()} | set(cls.methods()) | _OF_NNX
        return any(wanted.fullmatch(one) for one in taken)


def _field_in(code: str, frame: Frame) -> str:
    """Return the field of the module that an expression is; empty for another expression."""
    owner, _, name = code.partition(".")
    if not name.isidentifier() or not (
        owner == "self" or isinstance(frame.lookup(owner), SelfValue)
    ):
        return ""
    is_field = any(one.name == name for one in frame.recorder.plan.cls.fields())
    return name if is_field else ""


def _excludes(one: tuple[Condition, ...], other: tuple[Condition, ...]) -> bool:
    """Whether two places are on two sides of a branch."""
    sides = {condition.number: condition.side for condition in one}
    return any(
        condition.number in sides and sides[condition.number] is not condition.side
        for condition in other
    )
