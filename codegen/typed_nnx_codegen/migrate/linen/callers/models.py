"""The models that callers use, what constructs them with which sizes, and their `init`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of
from typed_nnx_codegen.migrate.linen.callers.caller_sizes import (
    NoSizes,
    Sizes,
    is_pure,
    parameters_for,
    sizes_for,
    sizes_of_names,
    union,
)
from typed_nnx_codegen.migrate.linen.callers.constructions import Construction, Use
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import (
    Deferred,
    Inline,
    Live,
    call_parts,
    held_sizes,
    size_in_field,
)
from typed_nnx_codegen.migrate.linen.callers.rendering import Rendering, joined
from typed_nnx_codegen.migrate.linen.domain.class_plan import ClassPlan, Lifted
from typed_nnx_codegen.migrate.linen.domain.classes import LinenClass
from typed_nnx_codegen.migrate.linen.layers.layer import (
    INIT_WITH_OUTPUT,
    VARIABLES_OF,
    WITH_SIZES,
)


class Models:
    """Writes the models of uses.

    Args:
        code: Writes expressions.
    """

    def __init__(self, code: Rendering) -> None:
        self._code = code
        self._hoisted: set[str] = set()
        self._told: set[str] = set()

    def model(self, use: Use, sizes: Callable[[], Sizes]) -> str:
        """Return the model of a use, or what constructs it: the first argument of helpers."""
        kind = self._code.kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._code.deferred(receiver, sizes())
        if isinstance(kind, Live) or (isinstance(kind, Deferred) and kind.preset is not None):
            return self._code.render(receiver)
        return self._sized(use, sizes().text)

    def _sized(self, use: Use, text: str) -> str:
        """Return what constructs the model of a use, with sizes."""
        receiver = self._code.render(use.node.value)
        if not text:
            return receiver
        function = self._code.refer("functools.partial")
        if not self.is_alike(use):
            function = self._code.helper(WITH_SIZES)
        return f"{function}({receiver}, {text})"

    def new_model(self, use: Use, sizes: Callable[[], Sizes], rngs: str) -> str:
        """Return the construction of the model of a use."""
        kind = self._code.kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._code.constructed(receiver, sizes(), rngs)
        if isinstance(kind, Live):
            return self._code.constructed(use.constructions[0].node, sizes(), rngs)
        is_known = isinstance(kind, Deferred) and kind.preset is not None
        text = "" if is_known else sizes().text
        if text and not self.is_alike(use):
            return f"{self._sized(use, text)}(rngs={rngs})"
        return f"{self._code.render(receiver)}({joined([text, f'rngs={rngs}'])})"

    def _plans(self, use: Use) -> list[ClassPlan]:
        return [self._code.plan_of(cls) for cls in use.classes]

    def takes_sizes(self, use: Use) -> bool:
        """Whether the constructor of what a use is of takes sizes."""
        return any(plan.lifted for plan in self._plans(use))

    def is_alike(self, use: Use) -> bool:
        """Whether all modules that a use may be of take the same sizes."""
        plans = self._plans(use)
        return all(plan.lifted == plans[0].lifted for plan in plans)

    def sizes_of_names(self, use: Use) -> Sizes:
        """Return the sizes over the parameters of the method that is called."""
        names = [[p.name.value for p in parameters_for(cls, "__call__")] for cls in use.classes]
        if any(one != names[0] for one in names):
            raise NoSizes("the modules that it may be are called with other arguments")
        found = union([sizes_of_names(plan, "__call__") for plan in self._plans(use)])
        self._tell_missing(use.node, found)
        return found

    def sizes(self, use: Use, call: cst.Call, skip: int, *, is_kept: bool) -> Sizes:
        """Return the sizes that the arguments of a call tell.

        Args:
            use: The use.
            call: The call of it.
            skip: How many arguments come before those of the method.
            is_kept: Whether the arguments are written once more.
        """
        method, args = call_parts(call, self._code.analysis, skip)

        def sizes() -> Sizes:
            return union(
                [
                    sizes_for(plan, method, args, self._code.analysis, self._code.render)
                    for plan in self._plans(use)
                ]
            )

        found = sizes()
        found = replace(found, used=(*found.used, *self._hold(use, method, args)))
        hoisted = False
        for node in {id(one): one for one in found.used}.values():
            count = sum(one is node for one in found.used) + is_kept
            if count > 1 and not is_pure(node, self._code.analysis):
                self._hoist(node)
                hoisted = True
        self._tell_missing(call, found)
        if hoisted:
            self._hold(use, method, args)
        return sizes() if hoisted else found

    def _hold(
        self, use: Use, method: str, args: Sequence[cst.Arg]
    ) -> tuple[cst.BaseExpression, ...]:
        """Find the sizes of modules that are given for fields; return the arguments in them."""
        used: list[cst.BaseExpression] = []
        code = self._code
        for one in code.constructions.every.values():
            if one.owner is None or one.owner not in use.constructions:
                continue
            plan, inner = code.plan_of(one.owner.cls), code.plan_of(one.cls)
            sizes = held_sizes(one, plan, inner, method, args, code.analysis, code.render)
            if not sizes.missing:
                code.held[one.node] = sizes
                used += sizes.used
        return tuple(used)

    def _tell_missing(self, node: cst.CSTNode, sizes: Sizes) -> None:
        for reason in sizes.missing:
            if reason in self._told:
                continue
            self._told.add(reason)
            self._code.mark(node, f"{reason}: give it where the model is constructed")

    def _hoist(self, node: cst.BaseExpression) -> None:
        """Give an argument a name above its statement, so that it is evaluated once."""
        statement = self._code.places.statement(node)
        if statement is None or not self._code.places.runs_once(node):
            raise NoSizes(f"`{code_of(node)}` would be evaluated twice")
        name = "inputs"
        while name in self._code.file.names.before or name in self._hoisted:
            name += "_"
        self._hoisted.add(name)
        self._code.plan.before.setdefault(statement, []).append(
            f"{name} = {self._code.render(node)}"
        )
        self._code.plan.code[node] = name

    def header(self, cls: LinenClass) -> list[str]:
        """Return the parameters of `__call__` for a lambda."""
        found: list[str] = []
        is_keyword_only = False
        method = cls.method("__call__")
        for one in parameters_for(cls, "__call__"):
            if (
                method is not None
                and one in method.node.params.kwonly_params
                and not is_keyword_only
            ):
                found.append("*")
                is_keyword_only = True
            default = f"={code_of(one.default)}" if one.default is not None else ""
            found.append(f"{one.name.value}{default}")
        return found


_RNGS = "rngs"


def later_model(one: Construction, code: Rendering) -> str | None:
    """Return a function of sizes that constructs a returned model and the modules in its fields.

    The return statement is the last to see the names around: they are the same whenever the
    function is called. None where a size of a module in a field is none of those of the model, or
    where what it is constructed with can be computed once only.

    Args:
        one: Where the model is constructed.
        code: Writes the file.
    """
    inner = _by_owner(code)
    plan = code.plan_of(one.cls)
    statement = code.places.parent(one.node)
    if one not in inner or not isinstance(statement, cst.Return) or not _is_repeatable(one, code):
        return None
    names = [lifted for lifted in plan.lifted if not lifted.default or lifted.argument]
    if any(not lifted.argument for lifted in names):
        return None
    sizes = {lifted: lifted.name for lifted in names}
    held = _held(one, sizes, inner, code.plan_of)
    if held is None:
        return None
    code.held |= held
    given = Sizes(tuple((lifted.name, lifted.name) for lifted in names))
    parameters = [f"{one.name}=None" if one.is_optional else one.name for one in names]
    built = code.constructed(one.node, given, _RNGS)
    return f"lambda *, {joined([*parameters, _RNGS])}: {built}"


def _is_repeatable(one: Construction, code: Rendering) -> bool:
    """Whether a model can be constructed several times with equal arguments."""
    made = code.constructions.every
    waiting = [arg.value for arg in one.node.args]
    for value in waiting:
        if value in made and isinstance(value, cst.Call):
            waiting += [arg.value for arg in value.args]
        elif not is_pure(value, one.analysis):
            return False
    return True


def _by_owner(code: Rendering) -> dict[Construction, list[Construction]]:
    """Return the modules that callers construct for fields, by the module that has the field."""
    found: dict[Construction, list[Construction]] = {}
    for one in code.constructions.every.values():
        if one.owner is not None:
            found.setdefault(one.owner, []).append(one)
    return found


def _held(
    outer: Construction,
    sizes: Mapping[Lifted, str],
    inner: Mapping[Construction, list[Construction]],
    plan_of: Callable[[LinenClass], ClassPlan],
) -> dict[cst.CSTNode, Sizes] | None:
    """Return the sizes of the modules in the fields of a module over its own, theirs below, too."""
    found: dict[cst.CSTNode, Sizes] = {}
    for one in inner.get(outer, ()):
        given = dict(_given(one, plan_of(outer.cls), plan_of(one.cls), sizes))
        if len(given) < len(plan_of(one.cls).lifted):
            return None
        found[one.node] = Sizes(
            tuple((lifted.name, text) for lifted, text in given.items() if text)
        )
        below = _held(one, given, inner, plan_of)
        if below is None:
            return None
        found |= below
    return found


def _given(
    one: Construction, outer: ClassPlan, inner: ClassPlan, sizes: Mapping[Lifted, str]
) -> Iterator[tuple[Lifted, str]]:
    """Yield the sizes of a module in a field that follow from those of the module around."""
    for lifted in inner.lifted:
        if lifted.default and not lifted.argument:
            yield lifted, ""
            continue
        size = size_in_field(one, lifted, outer, inner)
        if isinstance(size, int):
            yield lifted, str(size)
        for known, text in sizes.items():
            same = isinstance(size, Lifted) and (size.argument, size.axis) == (
                known.argument,
                known.axis,
            )
            if same and text and not known.is_optional:
                yield lifted, text
                break


class InitCalls:
    """Writes what makes variables.

    Args:
        code: Writes expressions.
        models: Writes models.
        direct: The calls that need no variables, by use.
    """

    def __init__(self, code: Rendering, models: Models, direct: Mapping[Use, DirectCalls]) -> None:
        self._code = code
        self._models = models
        self._direct = direct

    def init(self, use: Use) -> None:
        """Write `model.init`, called or handed to something."""
        if use.call is None:
            self._init_function(use)
            return
        call = use.call
        rngs = self.rngs(call)
        kind = self._code.kinds.of_use(use)

        def sizes() -> Sizes:
            return self._models.sizes(use, call, 1, is_kept=use.name != "init")

        if isinstance(kind, Live) and use is not kind.init and self._is_same_init(use, kind.init):
            model = kind.name
        elif isinstance(kind, Live) and use is kind.init:
            one = use.constructions[0]
            line = f"{kind.name} = {self._code.constructed(one.node, sizes(), rngs)}"
            statement = self._code.places.statement(use.node)
            assert statement is not None
            self._code.plan.before.setdefault(statement, []).append(line)
            self._code.plan.removed.add(kind.statement)
            direct = self._direct.get(use)
            if direct is not None and direct.statement is not None:
                self._code.plan.removed.add(direct.statement)
                return
            model = kind.name
        else:
            model = self._models.new_model(use, sizes, rngs)
        if use.name == "init":
            self._code.plan.code[call] = f"{self._code.helper(VARIABLES_OF)}({model})"
            return
        passed = [self._code.arg(arg) for arg in self._passed(call, 1)]
        text = joined([model, *passed])
        self._code.plan.code[call] = f"{self._code.helper(INIT_WITH_OUTPUT)}({text})"

    def _is_same_init(self, use: Use, other: Use) -> bool:
        """Whether a second `init` gives the same variables: the same text in the same statement."""
        if use.call is None or other.call is None or use.name != other.name:
            return False
        is_together = self._code.places.statement(use.node) is self._code.places.statement(
            other.node
        )
        return is_together and code_of(use.call) == code_of(other.call)

    def _passed(self, call: cst.Call, skip: int) -> list[cst.Arg]:
        return [
            arg
            for number, arg in enumerate(call.args)
            if not (number < skip and arg.keyword is None)
            and not (arg.keyword is not None and arg.keyword.value in ("rngs", "mutable"))
        ]

    def rngs(self, call: cst.Call) -> str:
        """Return the random streams that a call of `init` makes variables with."""
        first = next(
            (
                arg.value
                for arg in call.args
                if arg.keyword is not None and arg.keyword.value == "rngs"
            ),
            call.args[0].value if call.args and call.args[0].keyword is None else None,
        )
        if first is None:
            raise NoSizes("the key for its variables is not known")
        return self._rngs_of(first)

    def _rngs_of(self, node: cst.BaseExpression) -> str:
        """Return the streams that a key, or a dict of keys, stands for."""
        name = self._code.refer("nnx.Rngs")
        if isinstance(node, cst.Dict):
            given: dict[str, str] = {}
            for one in node.elements:
                if not isinstance(one, cst.DictElement) or not isinstance(
                    one.key, cst.SimpleString
                ):
                    return f"{name}({self._code.render(node)})"
                given[str(one.key.evaluated_value)] = self._code.render(one.value)
            default = given.pop("params", "")
            streams = [f"{key}={code}" for key, code in given.items()]
            return f"{name}({joined([default, *streams])})"
        return f"{name}({self._code.render(node)})"

    def _init_function(self, use: Use) -> None:
        """Write `model.init` where it is handed to something."""
        if use.name != "init":
            raise NoSizes(f"`{use.name}` is handed on")
        kind = self._code.kinds.of_use(use)
        streams = f"{self._code.refer('nnx.Rngs')}(rngs)"
        if isinstance(kind, Deferred) and kind.preset is not None:
            header = "rngs, *args, **kwargs"
            model = self._models.new_model(use, lambda: Sizes(()), streams)
        else:
            header = "rngs, *args, **kwargs"
            if self._models.takes_sizes(use):
                header = joined(["rngs", *self._models.header(use.classes[0])])
            model = self._models.new_model(use, lambda: self._models.sizes_of_names(use), streams)
        self._code.plan.code[use.node] = (
            f"(lambda {header}: {self._code.helper(VARIABLES_OF)}({model}))"
        )

    def tabulate(self, use: Use) -> None:
        """Write `model.tabulate`."""
        if use.call is None:
            raise NoSizes("`tabulate` is handed on")
        call = use.call
        kind = self._code.kinds.of_use(use)
        if isinstance(kind, Live):
            model = kind.name
        else:
            model = self._models.new_model(
                use, lambda: self._models.sizes(use, call, 1, is_kept=True), self.rngs(call)
            )
        passed = [self._code.arg(arg) for arg in self._passed(call, 1)]
        self._code.plan.code[call] = (
            f"{self._code.refer('nnx.tabulate')}({joined([model, *passed])})"
        )
