"""Writes what callers do with modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External
from typed_nnx_codegen.migrate.file import File
from typed_nnx_codegen.migrate.linen.callers.caller_helpers import (
    APPLY_WITH,
    BOUND_TO,
    FIELD_OF,
    INIT_WITH_OUTPUT,
    VARIABLES_OF,
    WITH_SIZES,
)
from typed_nnx_codegen.migrate.linen.callers.caller_plan import CallerPlan
from typed_nnx_codegen.migrate.linen.callers.constructions import (
    Construction,
    Constructions,
    Use,
)
from typed_nnx_codegen.migrate.linen.callers.direct_calls import DirectCalls
from typed_nnx_codegen.migrate.linen.callers.kinds import (
    INITS,
    Deferred,
    InField,
    Inline,
    Kinds,
    Live,
    call_parts,
    method_name,
)
from typed_nnx_codegen.migrate.linen.callers.sizes import (
    NoSizes,
    Sizes,
    is_pure,
    parameters_for,
    sizes_for,
    sizes_of_names,
    union,
)
from typed_nnx_codegen.migrate.linen.classes import LINEN, LinenClass, public_linen
from typed_nnx_codegen.migrate.linen.layers import Helper, find_layer
from typed_nnx_codegen.migrate.linen.linen_names import nnx_name
from typed_nnx_codegen.migrate.linen.marker_codes import CALLER
from typed_nnx_codegen.migrate.linen.plan import ClassPlan, Mark
from typed_nnx_codegen.migrate.linen.replacing import code_with

_KNOWN = frozenset({*INITS, "apply", "bind", "tabulate"})
# Attributes of a Linen module that a model of NNX does not have, or that do something else there.
_LINEN_ONLY = frozenset(
    {
        *("clone", "copy", "replace", "unbind", "variables", "scope", "parent", "name", "path"),
        *("lazy_init", "module_paths", "make_rng", "is_initializing", "has_rng", "param", "sow"),
        *("variable", "get_variable", "put_variable", "has_variable", "perturb"),
    }
)


class Writing:
    """Writes the code of one file outside of its modules.

    Args:
        file: The file.
        constructions: What the callers of the project do.
        kinds: How constructions are written.
        plan_of: Gives the plan of a module.

    Attributes:
        plan: What is written.
    """

    def __init__(
        self,
        file: File,
        constructions: Constructions,
        kinds: Kinds,
        plan_of: Callable[[LinenClass], ClassPlan],
    ) -> None:
        self._file = file
        self._analysis = file.analysis
        self._constructions = constructions
        self._places = constructions.places(file.analysis)
        self._kinds = kinds
        self._plan_of = plan_of
        self._made: dict[cst.CSTNode, Construction] = {
            one.node: one
            for one in constructions.in_file(file.analysis)
            if not plan_of(one.cls).stays
        }
        self._uses: dict[cst.CSTNode, Use] = {
            use.call or use.node: use
            for use in constructions.uses_in(file.analysis)
            if not any(plan_of(cls).stays for cls in use.classes)
        }
        self._direct = self._direct_calls()
        self._done: set[cst.CSTNode] = set()
        self._hoisted: set[str] = set()
        self.plan = CallerPlan()

    def run(self) -> None:
        """Write everything."""
        self._assigned_methods()
        for node in [*self._uses, *self._made]:
            self._write(node)

    def _direct_calls(self) -> dict[Use, DirectCalls]:
        found: dict[Use, DirectCalls] = {}
        for one in self._made.values():
            kind = self._kinds.of(one)
            inits = [use for use in one.uses if use.name in INITS]
            if isinstance(kind, Live) and len(inits) == 1:
                calls = DirectCalls(one, kind, self._places, self._plan_of)
                found |= dict.fromkeys([*calls.uses, kind.init], calls)
        return found

    # -- rendering ----------------------------------------------------------------------------

    def render(self, node: cst.CSTNode) -> str:
        """Return the new code of an expression."""
        replacements: dict[cst.CSTNode, str] = {}
        for below in descendants(node):
            if below in self._uses or below in self._made:
                self._write(below)
            if below in self.plan.code:
                replacements[below] = self.plan.code[below]
            elif isinstance(below, (cst.Name, cst.Attribute)):
                name = self._nnx_name(below)
                if name:
                    replacements[below] = code_of(self._file.refer(name))
        return code_with(node, replacements)

    def _nnx_name(self, node: cst.CSTNode) -> str:
        value = self._analysis.values.get(node, UNKNOWN)
        if not isinstance(value, External):
            return ""
        public = public_linen(value.name)
        if not public.startswith(f"{LINEN}."):
            return ""
        layer = find_layer(public)
        name = layer.nnx if layer is not None else nnx_name(public)
        return name if name.startswith("nnx.") else ""

    def _refer(self, public: str) -> str:
        return code_of(self._file.refer(public))

    def _helper(self, helper: Helper) -> str:
        self.plan.helpers[helper] = None
        return helper.name

    def _mark(self, node: cst.CSTNode, message: str) -> None:
        self.plan.marks.append(Mark(node, message, CALLER))

    def _write(self, node: cst.CSTNode) -> None:
        if node in self._done:
            return
        self._done.add(node)
        try:
            if node in self._uses:
                self._use(self._uses[node])
            else:
                self._construction(self._made[node])
        except NoSizes as reason:
            self._mark(node, f"{reason}; the call is still that of Linen")

    # -- constructions ------------------------------------------------------------------------

    def _construction(self, one: Construction) -> None:
        kind = self._kinds.of(one)
        match kind:
            case Deferred(preset=preset):
                self.plan.code[one.node] = self._deferred(one.node, preset or Sizes(()))
            case Live(statement=statement):
                self.plan.removed.add(statement)
                self._write(kind.init.call or kind.init.node)
            case InField():
                self._mark(one.node, f"`{one.cls.name}` in a field needs the sizes of its inputs and `rngs`")
            case Inline():
                pass

    def _deferred(self, call: cst.Call, sizes: Sizes) -> str:
        """Return what constructs a model later: `partial(MLP, features=3)`."""
        parts = [self.render(call.func), *self._args(call.args), sizes.text]
        if not any(parts[1:]):
            return parts[0]
        return f"{self._refer('functools.partial')}({_joined(parts)})"

    def _constructed(self, call: cst.Call, sizes: Sizes, rngs: str) -> str:
        parts = [*self._args(call.args), sizes.text, f"rngs={rngs}"]
        return f"{self.render(call.func)}({_joined(parts)})"

    def _args(self, args: Sequence[cst.Arg]) -> list[str]:
        return [self._arg(arg) for arg in args if not _is_parent(arg)]

    def _arg(self, arg: cst.Arg) -> str:
        keyword = f"{arg.keyword.value}=" if arg.keyword is not None else ""
        return f"{keyword}{arg.star}{self.render(arg.value)}"

    # -- uses ---------------------------------------------------------------------------------

    def _use(self, use: Use) -> None:
        if use.name in INITS:
            self._init(use)
        elif use.name == "apply":
            self._apply(use)
        elif use.name == "bind":
            self._bind(use)
        elif use.name == "tabulate":
            self._tabulate(use)
        else:
            self._member(use)

    def _model(self, use: Use, sizes: Callable[[], Sizes]) -> str:
        """Return the model of a use, or what constructs it: the first argument of helpers."""
        kind = self._kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._deferred(receiver, sizes())
        if isinstance(kind, Live) or (isinstance(kind, Deferred) and kind.preset is not None):
            return self.render(receiver)
        return self._sized(use, sizes().text)

    def _sized(self, use: Use, text: str) -> str:
        """Return what constructs the model of a use, with sizes."""
        receiver = self.render(use.node.value)
        if not text:
            return receiver
        function = self._refer("functools.partial")
        if not self._is_alike(use):
            function = self._helper(WITH_SIZES)
        return f"{function}({receiver}, {text})"

    def _new_model(self, use: Use, sizes: Callable[[], Sizes], rngs: str) -> str:
        """Return the construction of the model of a use."""
        kind = self._kinds.of_use(use)
        receiver = use.node.value
        if isinstance(kind, Inline):
            assert isinstance(receiver, cst.Call)
            return self._constructed(receiver, sizes(), rngs)
        if isinstance(kind, Live):
            return self._constructed(use.constructions[0].node, sizes(), rngs)
        is_known = isinstance(kind, Deferred) and kind.preset is not None
        text = "" if is_known else sizes().text
        if text and not self._is_alike(use):
            return f"{self._sized(use, text)}(rngs={rngs})"
        return f"{self.render(receiver)}({_joined([text, f'rngs={rngs}'])})"

    def _plans(self, use: Use) -> list[ClassPlan]:
        return [self._plan_of(cls) for cls in use.classes]

    def _takes_sizes(self, use: Use) -> bool:
        return any(plan.lifted for plan in self._plans(use))

    def _is_alike(self, use: Use) -> bool:
        """Whether all modules that a use may be of take the same sizes."""
        plans = self._plans(use)
        return all(plan.lifted == plans[0].lifted for plan in plans)

    def _sizes_of_names(self, use: Use) -> Sizes:
        """Return the sizes over the parameters of the method that is called."""
        names = [[p.name.value for p in parameters_for(cls, "__call__")] for cls in use.classes]
        if any(one != names[0] for one in names):
            raise NoSizes("the modules that it may be are called with other arguments")
        return union([sizes_of_names(plan, "__call__") for plan in self._plans(use)])

    def _sizes(self, use: Use, call: cst.Call, skip: int, *, is_kept: bool) -> Sizes:
        """Return the sizes that the arguments of a call tell.

        Args:
            use: The use.
            call: The call of it.
            skip: How many arguments come before those of the method.
            is_kept: Whether the arguments are written once more.
        """
        method, args = call_parts(call, self._analysis, skip)

        def sizes() -> Sizes:
            return union(
                [
                    sizes_for(plan, method, args, self._analysis, self.render)
                    for plan in self._plans(use)
                ]
            )

        found = sizes()
        hoisted = False
        for node in {id(one): one for one in found.used}.values():
            count = sum(one is node for one in found.used) + is_kept
            if count > 1 and not is_pure(node, self._analysis):
                self._hoist(node)
                hoisted = True
        return sizes() if hoisted else found

    def _hoist(self, node: cst.BaseExpression) -> None:
        """Give an argument a name above its statement, so that it is evaluated once."""
        statement = self._places.statement(node)
        if statement is None or not self._places.runs_once(node):
            raise NoSizes(f"`{code_of(node)}` would be evaluated twice")
        name = "inputs"
        while name in self._file.names.before or name in self._hoisted:
            name += "_"
        self._hoisted.add(name)
        self.plan.before.setdefault(statement, []).append(f"{name} = {self.render(node)}")
        self.plan.code[node] = name

    # -- init ---------------------------------------------------------------------------------

    def _init(self, use: Use) -> None:
        if use.call is None:
            self._init_function(use)
            return
        call = use.call
        rngs = self._rngs(call)
        kind = self._kinds.of_use(use)
        sizes = lambda: self._sizes(use, call, 1, is_kept=use.name != "init")  # noqa: E731 - deferred: sizes may be unknown where they are not needed
        if isinstance(kind, Live) and use is not kind.init and self._is_same_init(use, kind.init):
            model = kind.name
        elif isinstance(kind, Live) and use is kind.init:
            one = use.constructions[0]
            line = f"{kind.name} = {self._constructed(one.node, sizes(), rngs)}"
            statement = self._places.statement(use.node)
            assert statement is not None
            self.plan.before.setdefault(statement, []).append(line)
            direct = self._direct.get(use)
            if direct is not None and direct.statement is not None:
                self.plan.removed.add(direct.statement)
                return
            model = kind.name
        else:
            model = self._new_model(use, sizes, rngs)
        if use.name == "init":
            self.plan.code[call] = f"{self._helper(VARIABLES_OF)}({model})"
            return
        passed = [self._arg(arg) for arg in self._passed(call, 1)]
        text = _joined([model, *passed])
        self.plan.code[call] = f"{self._helper(INIT_WITH_OUTPUT)}({text})"

    def _is_same_init(self, use: Use, other: Use) -> bool:
        """Whether a second `init` gives the same variables: the same text in the same statement."""
        if use.call is None or other.call is None or use.name != other.name:
            return False
        is_together = self._places.statement(use.node) is self._places.statement(other.node)
        return is_together and code_of(use.call) == code_of(other.call)

    def _passed(self, call: cst.Call, skip: int) -> list[cst.Arg]:
        return [
            arg
            for number, arg in enumerate(call.args)
            if not (number < skip and arg.keyword is None)
            and not (arg.keyword is not None and arg.keyword.value in ("rngs", "mutable"))
        ]

    def _rngs(self, call: cst.Call) -> str:
        first = next(
            (arg.value for arg in call.args if arg.keyword is not None and arg.keyword.value == "rngs"),
            call.args[0].value if call.args and call.args[0].keyword is None else None,
        )
        if first is None:
            raise NoSizes("the key for its variables is not known")
        return self._rngs_of(first)

    def _rngs_of(self, node: cst.BaseExpression) -> str:
        """Return the streams that a key, or a dict of keys, stands for."""
        name = self._refer("nnx.Rngs")
        if isinstance(node, cst.Dict):
            given: dict[str, str] = {}
            for one in node.elements:
                if not isinstance(one, cst.DictElement) or not isinstance(one.key, cst.SimpleString):
                    return f"{name}({self.render(node)})"
                given[str(one.key.evaluated_value)] = self.render(one.value)
            default = given.pop("params", "")
            streams = [f"{key}={code}" for key, code in given.items()]
            return f"{name}({_joined([default, *streams])})"
        return f"{name}({self.render(node)})"

    def _init_function(self, use: Use) -> None:
        """Write `model.init` where it is handed to something."""
        if use.name != "init":
            raise NoSizes(f"`{use.name}` is handed on")
        kind = self._kinds.of_use(use)
        streams = f"{self._refer('nnx.Rngs')}(rngs)"
        if isinstance(kind, Deferred) and kind.preset is not None:
            header = "rngs, *args, **kwargs"
            model = self._new_model(use, lambda: Sizes(()), streams)
        else:
            header = "rngs, *args, **kwargs"
            if self._takes_sizes(use):
                header = _joined(["rngs", *self._header(use.classes[0])])
            model = self._new_model(use, lambda: self._sizes_of_names(use), streams)
        self.plan.code[use.node] = f"(lambda {header}: {self._helper(VARIABLES_OF)}({model}))"

    def _header(self, cls: LinenClass) -> list[str]:
        """Return the parameters of `__call__` for a lambda."""
        found: list[str] = []
        is_keyword_only = False
        method = cls.method("__call__")
        for one in parameters_for(cls, "__call__"):
            if method is not None and one in method.node.params.kwonly_params and not is_keyword_only:
                found.append("*")
                is_keyword_only = True
            default = f"={code_of(one.default)}" if one.default is not None else ""
            found.append(f"{one.name.value}{default}")
        return found

    # -- apply --------------------------------------------------------------------------------

    def _apply(self, use: Use) -> None:
        if use.call is None:
            self._apply_function(use)
            return
        call = use.call
        if any(_keyword(arg) == "capture_intermediates" for arg in call.args):
            raise NoSizes("`capture_intermediates` has no counterpart here")
        if use in self._direct:
            self._direct_call(use, call)
            return
        skip = 0 if any(_keyword(arg) == "variables" for arg in call.args) else 1
        model = self._model(use, lambda: self._sizes(use, call, skip, is_kept=True))
        args = [self._applied_arg(arg, use) for arg in call.args]
        self.plan.code[call] = f"{self._helper(APPLY_WITH)}({_joined([model, *args])})"

    def _direct_call(self, use: Use, call: cst.Call) -> None:
        """Write a call of the model with its own variables."""
        method, passed = call_parts(call, self._analysis, 1)
        self._done |= {arg.value for arg in call.args if _keyword(arg) == "method"}
        model = self.render(use.node.value)
        function = model if method == "__call__" else f"{model}.{method}"
        self.plan.code[call] = f"{function}({_joined([self._arg(arg) for arg in passed])})"

    def _applied_arg(self, arg: cst.Arg, use: Use) -> str:
        if _keyword(arg) == "method" and isinstance(arg.value, cst.Attribute):
            below = self._constructions.uses.get(arg.value)
            if below is not None:
                self._done.add(arg.value)
                return f'method="{method_name(arg.value)}"'
        return self._arg(arg)

    def _apply_function(self, use: Use) -> None:
        """Write `model.apply` where it is handed to something."""
        kind = self._kinds.of_use(use)
        helper = self._helper(APPLY_WITH)
        is_known = isinstance(kind, Live) or (isinstance(kind, Deferred) and kind.preset is not None)
        if is_known or not self._takes_sizes(use):
            model = self._model(use, lambda: Sizes(()))
            self.plan.code[use.node] = f"{self._refer('functools.partial')}({helper}, {model})"
            return
        model = self._model(use, lambda: self._sizes_of_names(use))
        header = self._header(use.classes[0])
        passed: list[str] = []
        is_keyword_only = False
        for one in header:
            name = one.partition("=")[0]
            if name == "*":
                is_keyword_only = True
            else:
                passed.append(f"{name}={name}" if is_keyword_only else name)
        head = _joined(["variables", *header, "**options"])
        body = f"{helper}({_joined([model, 'variables', *passed, '**options'])})"
        self.plan.code[use.node] = f"(lambda {head}: {body})"

    # -- others -------------------------------------------------------------------------------

    def _bind(self, use: Use) -> None:
        if use.call is None:
            raise NoSizes("`bind` is handed on")
        def sizes() -> Sizes:
            if self._takes_sizes(use):
                raise NoSizes("the sizes of its inputs are not known where variables are bound")
            return Sizes(())
        args = [self._arg(arg) for arg in use.call.args if _keyword(arg) != "mutable"]
        text = _joined([self._model(use, sizes), *args])
        self.plan.code[use.call] = f"{self._helper(BOUND_TO)}({text})"

    def _tabulate(self, use: Use) -> None:
        if use.call is None:
            raise NoSizes("`tabulate` is handed on")
        call = use.call
        kind = self._kinds.of_use(use)
        if isinstance(kind, Live):
            model = kind.name
        else:
            model = self._new_model(
                use, lambda: self._sizes(use, call, 1, is_kept=True), self._rngs(call)
            )
        passed = [self._arg(arg) for arg in self._passed(call, 1)]
        self.plan.code[call] = f"{self._refer('nnx.tabulate')}({_joined([model, *passed])})"

    def _member(self, use: Use) -> None:
        """See that an attribute is still there: a field, a method that needs no object."""
        if use.name in _LINEN_ONLY and not any(
            one.name == use.name for cls in use.classes for one in cls.fields()
        ):
            raise NoSizes(f"`{use.name}` of a module has no counterpart here")
        if isinstance(self._kinds.of_use(use), Live):
            return
        methods = [cls.method(use.name) for cls in use.classes]
        if len(use.classes) == 1 and methods[0] is not None and not methods[0].is_bound:
            owner = self._constructions_class_code(use)
            if owner:
                self.plan.code[use.node] = f"{owner}.{use.name}"
                return
        if all(any(one.name == use.name for one in cls.fields()) for cls in use.classes):
            receiver = self.render(use.node.value)
            self.plan.code[use.node] = f'{self._helper(FIELD_OF)}({receiver}, "{use.name}")'
            return
        raise NoSizes(f"`{use.name}` is read of what is not constructed yet")

    def _constructions_class_code(self, use: Use) -> str:
        """Return how the file spells the class of a use; empty where it does not."""
        scope = self._analysis.scope
        for one in use.constructions:
            if one.analysis is self._analysis and isinstance(one.node.func, cst.Name):
                name = one.node.func.value
                if name in scope.seen:
                    return name
        return ""

    def _forget(self, use: Use) -> None:
        """Leave an attribute alone that the program itself gives to modules."""
        for other in [*self._uses.values()]:
            if other.name == use.name and set(other.classes) & set(use.classes):
                self._uses.pop(other.call or other.node, None)

    def _assigned_methods(self) -> None:
        """Leave `model.apply` alone where a program assigns it: `model.apply = jit(model.apply)`."""
        targets = {
            one.target
            for one in self._analysis.nodes.of(cst.AssignTarget)
            if isinstance(one.target, cst.Attribute) and one.target in self._constructions.uses
        }
        for target in targets:
            use = self._constructions.uses[target]  # type: ignore[index]  # attributes, see above
            self._uses.pop(target, None)
            if use.name not in _KNOWN:
                self._forget(use)
                continue
            statement = self._places.statement(target)
            block = self._places.block(statement) if statement is not None else None
            for other in [*self._uses.values()]:
                is_same = other.name == use.name and set(other.constructions) & set(use.constructions)
                is_after = block in self._places.around(other.node) and self._places.is_before(
                    target, other.node
                )
                if is_same and is_after and self._places.statement(other.node) is not statement:
                    self._uses.pop(other.call or other.node, None)


def _joined(parts: Sequence[str]) -> str:
    return ", ".join(part for part in parts if part)


def _keyword(arg: cst.Arg) -> str:
    return arg.keyword.value if arg.keyword is not None else ""


def _is_parent(arg: cst.Arg) -> bool:
    """Whether an argument is the `parent` or the `name` that Linen modules take."""
    return _keyword(arg) in ("parent", "name")


