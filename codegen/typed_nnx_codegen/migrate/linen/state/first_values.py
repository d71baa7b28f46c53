"""The first values of parameters and variables, as the new constructor makes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.linen import shapes
from typed_nnx_codegen.migrate.linen.running.applying import applied
from typed_nnx_codegen.migrate.linen.running.frames import (
    CallFunction,
    Dispatch,
    Evaluate,
    Frame,
    FunctionRef,
)
from typed_nnx_codegen.migrate.linen.running.passed import BoundArguments, Passed
from typed_nnx_codegen.migrate.linen.running.references import BoundMethod, Ref
from typed_nnx_codegen.migrate.linen.running.values import (
    ANY_SHAPE,
    UNKNOWN,
    Array,
    Const,
    Seq,
    Size,
    Table,
    Unknown,
    Value,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import wanted_shape
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

# What is said to `self.param` and `self.variable` themselves.
_OWN: Final = frozenset({"name", "init_fn", "col", "unbox"})
_LIKE: Final = {"jax.numpy.zeros_like": "jax.numpy.zeros", "jax.numpy.ones_like": "jax.numpy.ones"}


@dataclass(frozen=True)
class Made:
    """The code that makes a first value.

    Attributes:
        code: The expression, a template.
        lines: The lines before it.
        is_stand_in: Whether only its form is that of Linen's value: the numbers are zeros.
    """

    code: str
    lines: tuple[str, ...] = ()
    is_stand_in: bool = False


class FirstValues:
    """Finds the first values of variables.

    Args:
        code: Writes expressions for the constructor.
        evaluate: Goes through an expression.
        dispatch: Goes through a call of something.
        call_function: Goes through a function of the project.
        refer: Gives the code for a public name.
    """

    def __init__(
        self,
        code: ConstructorCode,
        evaluate: Evaluate,
        dispatch: Dispatch,
        call_function: CallFunction,
        refer: Callable[[str], str],
    ) -> None:
        self._code = code
        self._evaluate = evaluate
        self._dispatch = dispatch
        self._call_function = call_function
        self._refer = refer

    def value(self, init: Passed, bound: BoundArguments, frame: Frame, *, has_key: bool) -> Value:
        """Return what an initializer makes."""
        keys = [Passed(UNKNOWN, None, init.node)] if has_key else []
        named = [one for name, one in bound.by_name.items() if name not in _OWN]
        passed = [*keys, *bound.extra, *named]
        inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
        found: Value = UNKNOWN
        match init.value:
            case FunctionRef() as function:
                found = self._call_function(function, passed, inner)
            case BoundMethod(receiver=receiver, method=method) if method is not None:
                del receiver
                call = cst.Call(init.node)
                found = self._dispatch(init.value, passed, call, inner)
            case Ref(name=name) if name.startswith(("jax.numpy.", "numpy.")):
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
        self, init: Passed, bound: BoundArguments, key: str, value: Value, frame: Frame
    ) -> Made | None:
        """Return the code that makes a first value; None where the constructor cannot.

        Args:
            init: The initializer.
            bound: The arguments of `self.param` or `self.variable`.
            key: The code of the random key that the initializer is given; empty for none.
            value: What it makes.
            frame: The frame.
        """
        with self._code.with_shapes():
            found = self._called(init, bound, key, frame) or self._like(init, value, frame)
            if found is not None:
                return found
            code = self.zeros(value, frame)
        return None if code is None else Made(code, is_stand_in=True)

    def _called(self, init: Passed, bound: BoundArguments, key: str, frame: Frame) -> Made | None:
        codes = [self._argument(one, frame) for one in bound.extra]
        words = {
            name: self._argument(one, frame)
            for name, one in bound.by_name.items()
            if name not in _OWN
        }
        known = [code for code in codes if code is not None]
        named = {name: code for name, code in words.items() if code is not None}
        if len(known) != len(codes) or len(named) != len(words):
            return None
        args = [*([key] if key else []), *known]
        function = init.value
        # What a function of the file returns is defined where its names are not bound here.
        is_here = isinstance(function, FunctionRef) and function.frame.records
        if isinstance(function, FunctionRef) and not function.code and is_here:
            if isinstance(function.node, cst.FunctionDef):
                return self._defined(function, args, named, frame)
            text = self._code.of(function.node, function.frame)
            return None if text is None else Made(applied(text, args, named))
        text = init.code
        if text is None and isinstance(init.node, cst.Call):
            text = self._code.of(init.node, frame)
        return None if text is None else Made(applied(text, args, named))

    def _defined(
        self, function: FunctionRef, args: list[str], named: dict[str, str], frame: Frame
    ) -> Made | None:
        """Return the call of a function that is defined in the method: it comes along."""
        assert isinstance(function.node, cst.FunctionDef)
        text = self._code.of_function(function.node, function.frame)
        if text is None:
            return None
        name = function.node.name.value
        frame.recorder.locals.add(name)
        return Made(applied(name, args, named), tuple(text.strip("\n").split("\n")))

    def _argument(self, one: Passed, frame: Frame) -> str | None:
        """Return the code of an argument; that of the dtype of an input is what it mostly is."""
        match one.node:
            case cst.Attribute(attr=cst.Name(value="dtype")) if one.code is None:
                return self._refer("jax.numpy.float32")
        if one.code is not None:
            return one.code
        code = self._code.of_value(one.value, frame)
        return code if code is not None else self._code.of(one.node, frame)

    def _like(self, init: Passed, value: Value, frame: Frame) -> Made | None:
        """Return zeros or ones like an array, of the same shape."""
        match init.value:
            case FunctionRef(node=cst.Lambda(body=cst.Call() as call), frame=inner):
                function = self._evaluate(call.func, inner)
                name = function.name if isinstance(function, Ref) else ""
                if name in _LIKE and len(call.args) == 1 and isinstance(value, Array):
                    shape = self._code.of_shape(value.shape, frame)
                    if shape is not None:
                        return Made(f"{self._refer(_LIKE[name])}({shape})")
        return None

    def zeros(self, value: Value, frame: Frame) -> str | None:
        """Return zeros of the form that a value has; None where the constructor cannot say it."""
        match value:
            case Array(shape=shape, dtype=dtype):
                code = self._code.of_shape(shape, frame)
                if code is None:
                    return None
                kind = f", {dtype}" if dtype.replace(".", "").isalnum() and "self" in dtype else ""
                return f"{self._refer('jax.numpy.zeros')}({code}{kind})"
            case Seq(items=items):
                codes = [self.zeros(item, frame) for item in items]
                inner = ", ".join(code for code in codes if code is not None)
                is_one = len(codes) == 1
                text = f"[{inner}]" if value.is_list else f"({inner}{',' if is_one else ''})"
                return None if None in codes else text
            case Table(items=table):
                pairs = {key: self.zeros(item, frame) for key, item in table.items()}
                inner = ", ".join(f"{key!r}: {code}" for key, code in pairs.items())
                return None if None in pairs.values() else f"{{{inner}}}"
            case Const() | Size():
                return self._code.of_value(value, frame)
        return None
