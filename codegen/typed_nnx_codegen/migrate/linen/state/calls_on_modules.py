"""What modules of Linen offer methods: keys, sown values, variables that a call makes, caches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.linen.domain.class_plan import Call, ClassPlan, Need, Site
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.domain.frames import (
    Declare,
    Frame,
    Recorder,
    Sow,
)
from typed_nnx_codegen.migrate.linen.domain.markers import CALL, NAME
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Const, Value
from typed_nnx_codegen.migrate.linen.layers import Helper
from typed_nnx_codegen.migrate.linen.shapes.operands import BoundArguments, Passed, bind_names
from typed_nnx_codegen.migrate.linen.state.declaring import (
    TYPES,
    Declaring,
    FirstValues,
    Made,
    VariableName,
)
from typed_nnx_codegen.migrate.linen.state.reads import STATISTICS, ask_mode
from typed_nnx_codegen.migrate.linen.transforms.lifts import Unsupported
from typed_nnx_codegen.migrate.linen.transforms.stacked_submodules import Stack, stacks_of
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_SOWN: Final = (
    "NNX keeps what is sown from one call to the next; take it away with `nnx.pop` after each call"
)


class StateCalls:
    """Rewrites calls of the methods of Linen's Module that declare no parameter.

    Args:
        code: Writes expressions for the constructor.
        refer: Gives the code for a public name.
        declaring: Declares variables.
        first_values: Finds their first values.
    """

    def __init__(
        self,
        code: ConstructorCode,
        refer: Callable[[str], str],
        declaring: Declaring,
        first_values: FirstValues,
    ) -> None:
        self._code = code
        self._refer = refer
        self._declaring = declaring
        self._first = first_values

    # -- keys ---------------------------------------------------------------------------------

    def make_rng(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return a key: of a stream of `self.rngs`."""
        if not frame.records:
            return UNKNOWN
        recorder = frame.recorder
        if frame.verbatim:
            recorder.mark(node, "a key that `setup` draws: NNX draws it once", CALL)
        recorder.uses_rngs = True
        recorder.replace(node, f"{self._stream(passed, frame)}()")
        return UNKNOWN

    def has_rng(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether there is a stream of keys."""
        if frame.records:
            frame.recorder.uses_rngs = True
            name = passed[0].node if passed else cst.SimpleString("'params'")
            owner = "rngs" if frame.verbatim else "self.rngs"
            frame.recorder.replace(node, f"({code_of(name)} in {owner})")
        return UNKNOWN

    @staticmethod
    def _stream(passed: list[Passed], frame: Frame) -> str:
        owner = "rngs" if frame.verbatim else "self.rngs"
        if not passed:
            return f"{owner}.params"
        match passed[0].value:
            case Const(value=str() as name) if name.isidentifier():
                if isinstance(passed[0].node, cst.SimpleString):
                    return f"{owner}.{name}"
        return f"{owner}[{code_of(passed[0].node)}]"

    # -- what is seen on the way --------------------------------------------------------------

    def sow(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Write a value that is sown: collections have types in NNX, and names are attributes."""
        bound = bind_names(["col", "name", "value", "reduce_fn", "init_fn"], passed)
        collection, name = bound.by_name.get("col"), bound.by_name.get("name")
        if not frame.records or collection is None or name is None:
            return UNKNOWN
        recorder = frame.recorder
        if not isinstance(collection.value, Const):
            recorder.mark(node, "`sow` into a collection whose name is computed", NAME)
            return UNKNOWN
        known = TYPES.get(str(collection.value.value))
        if collection.keyword:
            arg = next(one for one in node.args if one.value is collection.node)
            assert arg.keyword is not None
            recorder.replace(arg.keyword, "variable_type")
        if known is not None:
            recorder.replace(collection.node, self._refer(known))
        if known is None:
            recorder.mark(node, _SOWN, CALL)
        if not isinstance(name.value, Const):
            return UNKNOWN
        text = str(name.value.value)
        init = bound.by_name.get("init_fn")
        is_made = known is None and init is not None
        if is_made and init is not None:
            is_made = self._make_sown(str(collection.value.value), text, init, frame)
        frame.log(Sow(f"{collection.value.value}/{text}", name.node, is_made))
        return UNKNOWN

    def _make_sown(self, collection: str, text: str, init: Passed, frame: Frame) -> bool:
        """Write the line that makes what is sown into, where it begins with a value."""
        log = frame.recorder.log
        made = self._first.made(init, BoundArguments({"init_fn": init}), "", UNKNOWN, frame)
        key = f"{collection}/{text}"
        is_there = log.about(Declare, key) or any(one.is_made for one in log.about(Sow, key))
        if made is None or is_there or self._is_taken(text, frame):
            return False
        array = self._refer("jax.numpy.asarray")
        code = f"self.{text} = {self._declaring.kind(collection)}({array}({made.code}))"
        frame.recorder.write(code)
        return True

    def _is_taken(self, text: str, frame: Frame) -> bool:
        return not text.isidentifier() or self._declaring.free(text, frame.recorder, "") != text

    def perturb(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return a value plus a variable that is zero, whose gradient is asked for."""
        bound = bind_names(["name", "value", "collection"], passed)
        name, given = bound.by_name.get("name"), bound.by_name.get("value")
        value = given.value if given is not None else UNKNOWN
        if not frame.records or name is None:
            return value
        collection = bound.by_name.get("collection")
        where = collection.value if collection is not None else Const("perturbations")
        spelled = self._declaring.name_of(name, frame)
        zeros = None
        with self._code.with_shapes():
            zeros = self._first.zeros(value, frame)
        if spelled is None or zeros is None or where != Const("perturbations"):
            frame.recorder.mark(node, "the shape of what is perturbed is not known", CALL)
            return value
        attribute = self._declaring.declare(
            "perturbations", spelled, Made(zeros), value, node, frame, stays=True
        )
        if isinstance(value, Array):
            frame.recorder.replace(node, _Perturbed(attribute))
        elif attribute != spelled.text:
            frame.recorder.replace(name.node, repr(attribute))
        return value

    # -- questions ----------------------------------------------------------------------------

    def is_initializing(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether variables are being made: a call of an NNX module never makes them."""
        del passed
        frame.replace(node, "False")
        return UNKNOWN

    def is_mutable(self, passed: list[Passed], node: cst.Call, frame: Frame) -> Value:
        """Return whether a collection can be written: in NNX all can."""
        if passed and passed[0].value == Const("params"):
            # Parameters are only mutable while they are made.
            return self.is_initializing(passed, node, frame)
        if passed and passed[0].value == Const(STATISTICS) and ask_mode(node, frame):
            return UNKNOWN
        if frame.records:
            frame.recorder.replace(node, "True")
            method = frame.method
            cls = frame.recorder.plan.cls
            if method is None or not _guards_writes(node, method.node, cls.node):
                frame.recorder.mark(
                    node, "what is computed depends on which collections are mutable", CALL
                )
        return Const(True)


@dataclass(frozen=True)
class _Perturbed:
    """Writes `self.perturb("h", h)` as the sum that it is.

    Attributes:
        attribute: The attribute of the variable.
    """

    attribute: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the sum."""
        del node
        value = next(
            arg.value
            for place, arg in enumerate(updated.args)
            if (arg.keyword.value == "value" if arg.keyword is not None else place == 1)
        )
        simple = isinstance(value, (cst.Name, cst.Attribute, cst.Call, cst.Subscript))
        if not simple and not getattr(value, "lpar", None):
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        zero = cst.parse_expression(f"self.{self.attribute}[...]")
        return cst.BinaryOperation(
            value, cst.Add(), zero, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]
        )


def _guards_writes(node: cst.Call, method: cst.FunctionDef, cls: cst.ClassDef) -> bool:
    """Whether a question is only asked in order to write what nothing else reads.

    Locals may be read before; variables nowhere: what a call leaves in them, the next one reads.
    """
    guard = next(
        (
            one
            for one in descendants(method)
            if isinstance(one, cst.If) and any(below is node for below in descendants(one.test))
        ),
        None,
    )
    if guard is None or guard.orelse is not None or not _is_conjunction(guard.test, node):
        return False
    written: set[str] = set()
    for line in guard.body.body:
        for small in line.body if isinstance(line, cst.SimpleStatementLine) else [line]:
            match small:
                case cst.Assign(targets=[cst.AssignTarget(target=target)]):
                    written.add(code_of(target))
                case cst.AugAssign(target=target):
                    written.add(code_of(target))
                case cst.Expr(value=cst.Call(func=cst.Attribute(attr=attr), args=args)) if (
                    attr.value in ("put_variable", "sow") and len(args) > 1
                ):
                    written.add(code_of(args[1].value))
                case cst.Pass() | cst.Expr(value=cst.SimpleString()):
                    pass
                case _:
                    return False
    variables = {code for code in written if not code.isidentifier()}
    return not (
        written & _read(guard, method, behind=True) or variables & _read(guard, cls, behind=False)
    )


def _is_conjunction(test: cst.BaseExpression, node: cst.Call) -> bool:
    if test is node:
        return True
    return (
        isinstance(test, cst.BooleanOperation)
        and isinstance(test.operator, cst.And)
        and (_is_conjunction(test.left, node) or _is_conjunction(test.right, node))
    )


def _read(guard: cst.If, around: cst.FunctionDef | cst.ClassDef, *, behind: bool) -> set[str]:
    """Return the expressions in a method or class outside of a branch, or only behind it."""
    found: set[str] = set()
    within = set(descendants(guard))
    is_reached = not behind
    for one in descendants(around):
        is_reached = is_reached or one is guard
        is_read = isinstance(one, (cst.Attribute, cst.Name, cst.SimpleString))
        if is_reached and is_read and one not in within:
            found.add(code_of(one))
    return found


# The arguments of `self.variable` before those of the initializer.
_FIRST: Final = ("col", "name", "init_fn")

MADE_ONCE: Final = Helper("made_once")


class LaterVariables:
    """Declares variables that the constructor leaves None.

    Args:
        refer: Gives the code for a public name.
        declaring: Declares variables.
    """

    def __init__(self, refer: Callable[[str], str], declaring: Declaring) -> None:
        self._refer = refer
        self._declaring = declaring

    def declare(
        self, collection: str, name: VariableName, value: Value, node: cst.Call, frame: Frame
    ) -> str:
        """Declare a variable; return its attribute, or nothing where a call cannot make it.

        Args:
            collection: Its collection.
            name: Its name.
            value: What is known of it.
            node: The call that declares it.
            frame: The frame.
        """
        recorder = frame.recorder
        is_plain = name.is_literal and not name.is_pattern and not recorder.owner
        if not is_plain or collection == "params" or frame.verbatim or recorder.loops:
            return ""
        if any(isinstance(one, Stack) for one in recorder.stacks) or not _is_spelled(node):
            return ""
        key = f"{collection}/{name.text}"
        known = recorder.variables.get(key)
        if known is not None and not known.later:
            return ""
        attribute = self._declaring.attribute(collection, name, frame)
        if known is None:
            none = f"{self._refer('nnx.data')}(None)"
            frame.log(Declare(key, attribute, value, later=none))
        frame.log(Need(MADE_ONCE))
        kind = self._declaring.kind(collection)
        if "(" in kind:
            kind = f"lambda value: {kind}(value)"
        frame.replace(node, _MadeOnce(attribute, kind))
        return attribute


def asks_for(collection: str, recorder: Recorder) -> bool:
    """Whether a module asks whether it has variables of a collection."""
    for method in recorder.plan.cls.methods().values():
        for text in _questions(method.node):
            if text in ("", collection):
                return True
    return False


def mark_stacked(recorder: Recorder, plan_of: Callable[[LinenClass], ClassPlan]) -> None:
    """Mark submodules under transforms that cannot pass on variables made within a call."""
    plan = recorder.plan
    plan.makes_later = any(one.later for one in recorder.variables.values())
    for site in plan.sites:
        for one in (site, *site.alternatives):
            if not isinstance(one.target, LinenClass) or not plan_of(one.target).makes_later:
                continue
            plan.makes_later = True
            if _maps(site):
                recorder.mark(site.node, "variables that a call makes under a transform")


def _maps(site: Site) -> bool:
    """Whether transforms around a submodule run it more than once, or may."""
    try:
        return bool(stacks_of(site))
    except Unsupported:
        return True


def _questions(function: cst.FunctionDef) -> list[str]:
    """Return the collections in which a function asks for variables; "" for any."""
    found: list[str] = []
    for node in descendants(function):
        match node:
            case cst.Call(
                func=cst.Attribute(attr=cst.Name(value="has_variable")), args=[first, *_]
            ):
                asked = first.value
                text = asked.evaluated_value if isinstance(asked, cst.SimpleString) else ""
                found.append(str(text))
    return found


def _is_spelled(node: cst.Call) -> bool:
    """Whether the first arguments of `self.variable` are where they are looked for."""
    names = [arg.keyword.value if arg.keyword is not None else "" for arg in node.args]
    return (
        isinstance(node.func, cst.Attribute)
        and not any(arg.star for arg in node.args[:3])
        and "unbox" not in names
        and all(name in ("", wanted) for name, wanted in zip(names, _FIRST, strict=False))
        and len(names) > len(_FIRST) - 1
        and not set(names[3:]) & set(_FIRST)
    )


@dataclass(frozen=True)
class _MadeOnce:
    """Writes `self.variable(...)` as the call that makes the variable once.

    Attributes:
        attribute: The attribute of the variable.
        kind: The expression for its type.
    """

    attribute: str
    kind: str

    def __call__(self, node: cst.Call, updated: cst.Call) -> cst.BaseExpression:
        """Return the call."""
        del node
        assert isinstance(updated.func, cst.Attribute)
        _, _, init, *others = updated.args
        first = [
            updated.func.value,
            cst.parse_expression(repr(self.attribute)),
            cst.parse_expression(self.kind),
            init.value,
        ]
        space = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
        args = [cst.Arg(one, comma=space) for one in first]
        if not others:
            args[-1] = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        return cst.Call(cst.Name(MADE_ONCE.name), [*args, *others])


_LAYERS: Final = frozenset(
    {
        "flax.linen.MultiHeadDotProductAttention",
        "flax.linen.MultiHeadAttention",
        "flax.linen.SelfAttention",
    }
)


def cache_lines(site: Site, recorder: Recorder, writer: ConstructorCode) -> Iterator[str]:
    """Yield the lines of the constructor that make the cache of an attention layer.

    Linen makes it where the layer is initialized, of the shape that it is called with there.
    """
    decode = site.given.get("decode")
    if site.target not in _LAYERS or decode is None or decode.code is None:
        return
    if isinstance(decode.value, Const) and not decode.value.value:
        return
    frame = Frame(recorder, recorder.plan.cls.analysis, recorder.instance)
    calls = recorder.log.about(Call, site)
    queries = calls[0].values.get("inputs_q") if calls else None
    shape = None
    if isinstance(queries, Array):
        shape = writer.of_shape(queries.shape, frame)
    if shape is None or "{" in site.attribute:
        recorder.mark(site.node, "call `init_cache(shape)` of it before decoding", CALL)
        return
    line = f"self.{site.attribute}.init_cache({shape})"
    if isinstance(decode.value, Const):
        yield line
        return
    yield f"if {decode.code}:"
    yield f"    {line}"


def caches_in(
    node: cst.BaseStatement, sites: Sequence[Site], recorder: Recorder, writer: ConstructorCode
) -> Iterator[str]:
    """Yield such lines for the layers that a statement of `setup` constructs."""
    below = set(descendants(node))
    for site in sites:
        if site.is_verbatim and site.node in below and site.attribute:
            yield from cache_lines(site, recorder, writer)
