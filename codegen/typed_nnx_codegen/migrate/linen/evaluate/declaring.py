"""Where variables are declared: names, attributes, and the code of their first values."""

from __future__ import annotations

import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import (
    code_of,
    descendants,
    dotted,
    parameters_of,
)
from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.domain.class_plan import NAME, Condition, Site
from typed_nnx_codegen.migrate.linen.domain.code import code_with
from typed_nnx_codegen.migrate.linen.domain.frames import (
    CallFunction,
    Compound,
    Declare,
    Dispatch,
    Frame,
    FunctionRef,
    Line,
    Recorder,
)
from typed_nnx_codegen.migrate.linen.domain.references import BoundMethod, Ref, SelfValue
from typed_nnx_codegen.migrate.linen.domain.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Passed,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.evaluate.lifts import Stack, variable_type
from typed_nnx_codegen.migrate.linen.evaluate.merging import is_module
from typed_nnx_codegen.migrate.linen.project.rewriting import not_read
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, wanted_shape
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_SCOPES = (cst.Lambda, cst.ListComp, cst.GeneratorExp, cst.DictComp, cst.SetComp, cst.NamedExpr)


def applied(function: str, args: Sequence[str], named: Mapping[str, str]) -> str:
    """Return the code of a call; the body of a lambda where its parameters are used once.

    Args:
        function: The code of the function.
        args: The positional arguments.
        named: The keyword arguments.
    """
    node = cst.parse_expression(function)
    body = _body(node, args, named) if isinstance(node, cst.Lambda) else None
    if body is not None:
        return body
    simple = isinstance(node, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
    text = function if simple or getattr(node, "lpar", None) else f"({function})"
    words = [f"{name}={code}" for name, code in named.items()]
    return f"{text}({', '.join([*args, *words])})"


def _body(node: cst.Lambda, args: Sequence[str], named: Mapping[str, str]) -> str | None:
    """Return the body of a lambda with its arguments in place.

    None where it would say an argument twice, or has names of its own.
    """
    params = node.params
    names = [one.name.value for one in (*params.posonly_params, *params.params)]
    given = {**dict(zip(names, args, strict=False)), **named}
    below = list(descendants(node.body))
    if {*given} != {*names} or len(names) != len(args) + len(named):
        return None
    is_plain = len([*parameters_of(params)]) == len(names)
    if not is_plain or any(isinstance(one, _SCOPES) for one in below):
        return None
    aside = {id(part) for one in below for part in not_read(one)}
    reads = [
        one
        for one in below
        if isinstance(one, cst.Name) and one.value in given and id(one) not in aside
    ]
    if len({one.value for one in reads}) < len(reads):
        return None
    return code_with(node.body, {one: given[one.value] for one in reads}).strip()


# What is said to `self.param` and `self.variable` themselves.
_OWN: Final = frozenset({"name", "init_fn", "col", "unbox"})


@dataclass(frozen=True)
class Made:
    """The code that makes a first value.

    Attributes:
        code: The expression, a template.
    """

    code: str


def defined(
    function: FunctionRef, writer: ConstructorCode, frame: Frame, *, is_kept: bool = False
) -> str | None:
    """Define a function of a method in the constructor, too; return its name.

    None where it depends on what the method is called with, or on parts of the module: the
    function would have those of the module as it is constructed, whatever becomes of it.

    Args:
        function: The function.
        writer: Writes expressions for the constructor.
        frame: Where it is used.
        is_kept: Whether it may be called when the constructor has bound its locals again.
    """
    node, recorder = function.node, frame.recorder
    if not isinstance(node, cst.FunctionDef) or node not in recorder.definitions:
        return None
    fields = {one.name for one in recorder.plan.cls.fields()}
    text = None if node.name.value in fields else writer.of_function(node, function.frame)
    if text is None:
        return None
    written = cst.parse_statement(text)
    contents = recorder.slots.within(written)
    parts = {
        one.attr.value
        for one in descendants(written)
        if isinstance(one, cst.Attribute) and dotted(one.value) == "self"
    }
    held = {} if recorder.instance is None else recorder.instance.fields
    if writer.makes_first_values:
        parts -= {name for name, is_array in recorder.params.items() if is_array}
    are_settings = parts <= fields and not any(is_module(held.get(one, UNKNOWN)) for one in parts)
    if not are_settings or any(isinstance(one, Site) for one in contents):
        return None
    again = (recorder.targets(recorder.headers) | recorder.locals) - fields
    again -= {"self", node.name.value}
    if is_kept and again & {*recorder.slots.names(written)}:
        return None
    recorder.write_definition(node, text.strip("\n"))
    return node.name.value


@dataclass(frozen=True, eq=False)
class FirstValues:
    """Finds the first values of variables."""

    code: ConstructorCode
    dispatch: Dispatch
    call_function: CallFunction

    def value(self, init: Passed, bound: BoundArguments, frame: Frame, *, has_key: bool) -> Value:
        """Return what an initializer makes."""
        keys = [Passed(UNKNOWN, None, init.node)] if has_key else []
        named = [one for name, one in bound.by_name.items() if name not in _OWN]
        passed = [*keys, *bound.extra, *named]
        inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
        found: Value = UNKNOWN
        match init.value:
            case FunctionRef() as function:
                found = self.call_function(function, passed, inner)
            case BoundMethod(receiver=receiver, method=method) if method is not None:
                del receiver
                call = cst.Call(init.node)
                found = self.dispatch(init.value, passed, call, inner)
            case Ref(name=name) if name.startswith(("jax.", "numpy.")):
                args = [one.value for one in passed if not one.keyword]
                words = {one.keyword: one.value for one in passed if one.keyword}
                found = shapes.function_result(name, args, words) or UNKNOWN
        if isinstance(found, Unknown) or (isinstance(found, Array) and found.shape == ANY_SHAPE):
            return self._of_shape(bound)
        return found

    @staticmethod
    def _of_shape(bound: BoundArguments) -> Value:
        """Return what initializers mostly make: an array of the shape that they are given."""
        given = bound.by_name.get("shape") or (bound.extra[0] if bound.extra else None)
        return Array() if given is None else Array(wanted_shape(given.value))

    # -- code ---------------------------------------------------------------------------------

    def made(
        self, init: Passed, bound: BoundArguments, key: str, frame: Frame, shape: str = ""
    ) -> Made | None:
        """Return the code that makes a first value; None where the constructor cannot.

        Args:
            init: The initializer.
            bound: The arguments of `self.param` or `self.variable`.
            key: The code of the random key that the initializer is given; empty for none.
            frame: The frame.
            shape: The code that stands for its shape, where nothing but the call knows that.
        """
        with self.code.with_shapes():
            return self._called(init, bound, key, frame, shape)

    def _called(
        self, init: Passed, bound: BoundArguments, key: str, frame: Frame, shape: str = ""
    ) -> Made | None:
        codes = [self._argument(one, frame) for one in bound.extra]
        words = {
            name: self._argument(one, frame)
            for name, one in bound.by_name.items()
            if name not in _OWN
        }
        if shape and "shape" in words:
            words["shape"] = words["shape"] or shape
        elif shape and codes:
            codes[0] = codes[0] or shape
        known = [code for code in codes if code is not None]
        named = {name: code for name, code in words.items() if code is not None}
        if len(known) != len(codes) or len(named) != len(words):
            return None
        args = [*([key] if key else []), *known]
        text = self.function(init, frame)
        return None if text is None else Made(applied(text, args, named))

    def function(self, init: Passed, frame: Frame) -> str | None:
        """Return the code of an initializer; None where the constructor cannot say it."""
        function = init.value
        # What a function of the file returns is defined where its names are not bound here.
        is_here = isinstance(function, FunctionRef) and function.frame.records
        if isinstance(function, FunctionRef) and not function.code and is_here:
            return (
                defined(function, self.code, frame)
                if isinstance(function.node, cst.FunctionDef)
                else self.code.of(function.node, function.frame)
            )
        return self._argument(init, frame)

    def _argument(self, one: Passed, frame: Frame) -> str | None:
        if one.code is not None:
            return one.code
        code = self.code.of_value(one.value, frame)
        return code if code is not None else self.code.of(one.node, frame)


STATISTICS: Final = "batch_stats"
MODE: Final = "use_running_average"
# The line of the constructor; a new model is in training.
MODE_LINE: Final = cst.parse_statement(f"self.{MODE} = False  # `train()` and `eval()` set it")

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


@dataclass(frozen=True, eq=False)
class Declaring:
    """Declares variables."""

    refer: Callable[[str], str]

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
        known = frame.recorder.variables.get(f"{collection}/{name.text}")
        if known is not None:
            return known.attribute
        return self.free(name.text, frame.recorder, collection, name.is_pattern)

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
        return variable_type(collection, self.refer)

    def declare(
        self,
        collection: str,
        name: VariableName,
        made: Made,
        value: Value,
        node: cst.Call,
        frame: Frame,
    ) -> str:
        """Write the line that makes a variable, and what stands for the call that declared it.

        Args:
            collection: Its collection.
            name: Its name.
            made: The code of its first value.
            value: What is known of it.
            node: The call.
            frame: The frame.

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
        is_renamed = not name.is_literal and not name.is_pattern and attribute != name.text
        if is_renamed or (name.is_pattern and self._clashes(name, attribute, recorder)):
            recorder.mark(node, "its computed name may be that of another attribute", NAME)
        if recorder.loops and not name.is_pattern and name.is_literal:
            recorder.mark(node, "a variable that is declared in a loop", NAME)
        key = f"{collection}/{name.text}"
        around = self._write(key, attribute, name, code, frame)
        calls = tuple(one for one in recorder.conditions if one.is_of_call)
        recorder.log.append(Declare(key, attribute, value, around, calls))
        stacks = [one for one in recorder.stacks if isinstance(one, Stack)]
        if any(one.lift.stacks(frozenset({collection})) for one in stacks):
            recorder.mark(node, "a variable that is declared under a transform that stacks it")
        owner = frame.name_of_instance()
        recorder.replace(node, self._reading(owner, attribute, name, collection, value))
        return attribute

    @staticmethod
    def _reading(
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
        around = tuple(one for one in recorder.conditions if not one.is_of_call)
        key, is_parameter = f"{collection}/{name.text}", collection == "params"
        recorder.log.append(Declare(key, attribute, value, around, (), is_parameter))
        recorder.replace(node, code)

    def _write(
        self,
        key: str,
        attribute: str,
        name: VariableName,
        code: str,
        frame: Frame,
    ) -> tuple[Condition, ...] | None:
        """Write the line that makes a variable, once on each way through the constructor.

        Returns:
            The branches around the line; None where there is one already.
        """
        recorder = frame.recorder
        now = tuple(one for one in recorder.conditions if not one.is_of_call)
        declared = recorder.log.about(Declare, key)
        before = [one.around for one in declared if one.around is not None]
        if any(now[: len(one)] == one for one in before) and not recorder.loops:
            return None
        target = f"self.{attribute} = {code}"
        if name.is_pattern or (not name.is_literal and recorder.loops):
            target = f"setattr(self, {name.code}, {code})"
        line = Line(target)
        if before and not all(_excludes(now, one) for one in before):
            spelled = name.code if name.is_pattern else repr(attribute)
            recorder.block.append(Compound(f"if not hasattr(self, {spelled}):", [line]))
        else:
            recorder.block.append(line)
        return now

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
