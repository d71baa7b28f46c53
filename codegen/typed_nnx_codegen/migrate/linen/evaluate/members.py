"""What attributes of modules and layers are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import code_of, descendants, dotted
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import ProjectClass
from typed_nnx_codegen.migrate.linen.domain.class_plan import Site
from typed_nnx_codegen.migrate.linen.domain.classes import Field, LinenClass, Method
from typed_nnx_codegen.migrate.linen.domain.expr import Constructed
from typed_nnx_codegen.migrate.linen.domain.frames import Evaluate, Frame, FunctionRef
from typed_nnx_codegen.migrate.linen.domain.references import (
    BoundMethod,
    ClassRef,
    FieldModule,
    ModuleValue,
    OneOf,
    Ref,
    SelfValue,
)
from typed_nnx_codegen.migrate.linen.domain.values import UNKNOWN, Array, Code, Const, Value
from typed_nnx_codegen.migrate.linen.evaluate.functions import Functions
from typed_nnx_codegen.migrate.linen.evaluate.lists import one_by_one
from typed_nnx_codegen.migrate.linen.evaluate.module_outputs import is_number_or_text
from typed_nnx_codegen.migrate.linen.evaluate.submodules import Submodules, default_of, note_default
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.project.fields import (
    Evidence,
    FieldFacts,
    held_kind,
    in_field,
    joined_kinds,
    with_counterpart,
)
from typed_nnx_codegen.migrate.linen.shapes.operands import Passed
from typed_nnx_codegen.migrate.linen.write.constructor_code import ConstructorCode

_WIDE: Final = {"features": "out_features"}
_CELL: Final = {"features": "hidden_features"}
_RENAMED: Final = {
    **dict.fromkeys(("Dense", "DenseGeneral", "Conv", "ConvTranspose"), _WIDE),
    **dict.fromkeys(("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"), _CELL),
}


def read_attribute(
    base: ModuleValue | FieldModule, name: str, node: cst.CSTNode | None, frame: Frame
) -> Value | None:
    """Return an attribute of a layer that NNX names otherwise; None for any other attribute.

    Args:
        base: The layer, or a field that holds one.
        name: The attribute.
        node: The expression that reads it, which is written anew.
        frame: The function.
    """
    if not frame.records or not isinstance(node, cst.Attribute):
        return None
    new = _new_name(base, name)
    if not new:
        return None
    is_any = isinstance(base, FieldModule) and base.default == UNKNOWN
    frame.recorder.replace(node, _code(code_of(node.value).strip(), name, new, is_any=is_any))
    if isinstance(base, ModuleValue):
        return None
    return Code(_code(f"self.{base.name}", name, new, is_any=is_any))


def _code(owner: str, name: str, new: str, *, is_any: bool) -> str:
    if not is_any:
        return f"{owner}.{new}"
    # Other modules have it as it was.
    return f'({owner}.{new} if hasattr({owner}, "{new}") else {owner}.{name})'


def _new_name(base: ModuleValue | FieldModule, name: str) -> str:
    kind: object = None
    if isinstance(base, ModuleValue):
        kind = base.site.target
    elif base.default == UNKNOWN:
        return "out_features" if name == "features" else ""
    elif isinstance(base.default, Ref):
        kind = base.default.name
    if not isinstance(kind, str):
        return ""
    return _RENAMED.get(kind.rpartition(".")[2], {}).get(name, "")


# What every Linen module has.
API: Final = frozenset(
    {
        *("param", "variable", "make_rng", "sow", "perturb", "is_initializing", "has_variable"),
        *("get_variable", "put_variable", "is_mutable_collection", "has_rng", "bind", "apply"),
        *("init", "init_with_output", "clone", "copy", "unbind", "tabulate", "lazy_init"),
        *("module_paths", "__dataclass_fields__", "get_wrapped_methods"),
    }
)


class Members:
    """Finds attributes of modules.

    Args:
        functions: Goes through methods and functions.
        submodules: Constructs submodules.
        evidence: What callers give for fields.
        facts: What is known of fields.
        code: Writes expressions for the constructor.
        evaluate: Goes through an expression.
        of_file: Goes through a name of a file.
    """

    def __init__(
        self,
        functions: Functions,
        submodules: Submodules,
        evidence: Evidence,
        facts: FieldFacts,
        code: ConstructorCode,
        evaluate: Evaluate,
        of_file: Evaluate,
    ) -> None:
        self._functions = functions
        self._submodules = submodules
        self._evidence = evidence
        self._facts = facts
        self._code = code
        self._evaluate = evaluate
        self._of_file = of_file

    def of_self(self, base: SelfValue, name: str, node: cst.Attribute, frame: Frame) -> Value:
        """Return an attribute of the object whose method is gone through."""
        if not base.is_set_up and name not in base.fields:
            self._functions.set_up(base, frame)
        if name in base.attributes:
            return base.attributes[name]
        if name in base.fields:
            return base.fields[name]
        method = base.cls.method(name)
        if method is not None:
            if method.is_property:
                return self._functions.call_method(base, method, [], node, frame)
            return BoundMethod(base, name, method)
        if name in API:
            return BoundMethod(base, name)
        if name in ("scope", "path", "name", "variables", "parent"):
            return UNKNOWN
        return self._constant(base, name, frame)

    def _constant(self, base: SelfValue, name: str, frame: Frame) -> Value:
        found = base.cls.constant(name)
        if found is None:
            return UNKNOWN
        node, owner = found
        inner = Frame(frame.recorder, owner.analysis, records=False)
        value = self._evaluate(node, inner)
        if not base.cls.is_rebound(name):
            if isinstance(value, Const):
                is_shown = frame.records and is_number_or_text(value.value)
                return Const(value.value, f"self.{name}" if is_shown else "")
            if isinstance(value, (Ref, ClassRef, FunctionRef)):
                return value
        return Code(f"self.{name}") if frame.records else UNKNOWN

    def has(self, passed: Sequence[Passed], frame: Frame) -> Value:
        """Return whether an object whose method is gone through has an attribute."""
        match [one.value for one in passed]:
            case [SelfValue() as base, Const(value=str() as name)]:
                if not base.is_set_up and name not in base.fields:
                    self._functions.set_up(base, frame)
                known = {*base.fields, *base.attributes, *base.cls.methods(), *API}
                is_there = name in known or base.cls.constant(name) is not None
                is_whole = not any(one.foreign or _is_mixed(one) for one in base.cls.ancestry())
                if is_there or (is_whole and name not in _assigned(base.cls)):
                    return Const(is_there)
        return UNKNOWN

    def of_module(
        self,
        base: ModuleValue | FieldModule,
        name: str,
        frame: Frame,
        node: cst.CSTNode | None = None,
    ) -> Value:
        """Return an attribute of a submodule."""
        renamed = read_attribute(base, name, node, frame)
        if renamed is not None:
            return renamed
        if isinstance(base, FieldModule):
            if name in API or base.default == UNKNOWN:
                return BoundMethod(base, name)
            return self._of_default(base, name)
        if name in ("variables", "scope") and frame.records:
            frame.recorder.mark(
                node or frame.recorder.plan.cls.node, f"`.{name}` of a submodule is not migrated"
            )
            return UNKNOWN
        site = base.site
        if isinstance(site.target, LinenClass):
            instance = self._submodules.instance(site, frame)
            if name in instance.fields:
                return self._of_held(site, name, instance.fields[name], frame)
            method = site.target.method(name)
            if (method is not None and not method.is_property) or name in API:
                return BoundMethod(base, name, method)
            self._functions.set_up(instance, frame)
            value = instance.attributes.get(name, UNKNOWN)
            return value
        layer = find_layer(site.target)
        if layer is not None and name in layer.parameters:
            given = site.given.get(name)
            return given.value if given is not None else UNKNOWN
        return BoundMethod(base, name)

    @staticmethod
    def _of_held(site: Site, name: str, value: Value, frame: Frame) -> Value:
        """Return a field of a submodule; a partial in the place of its class may say another one."""
        is_said = name in site.given and not site.given[name].hidden
        if is_said or not site.code.startswith("self.") or not frame.records:
            return value
        code = f"{frame.recorder.slots.name(Constructed(site.node))}.{name}"
        kind = held_kind(value)
        if kind is None:
            return Code(code)
        return value if isinstance(kind, FieldModule) else in_field(kind, code, {})

    @staticmethod
    def _of_default(base: FieldModule, name: str) -> Value:
        default = base.default
        if isinstance(default, ClassRef):
            method: Method | None = default.cls.method(name)
            return BoundMethod(base, name, method)
        return BoundMethod(base, name)

    # -- fields -------------------------------------------------------------------------------

    def root_field(self, one: Field, frame: Frame) -> Value:
        """Return what a field of the module that is planned stands for: whoever constructs it says.

        What it is by default, or what callers in the project give, says what kind of thing it is.
        """
        code = f"self.{one.name}"
        facts = self._facts
        if facts.is_of_call(frame.recorder.plan.cls, one.name):
            return Array() if facts.holds_arrays(one) else UNKNOWN
        default = default_of(one, self._evaluate, frame)
        given = [default, *self._evidence.of(one, frame)]
        held = [kind for kind in map(held_kind, given) if kind is not None]
        kinds = with_counterpart(joined_kinds([*held, *facts.kinds(one)]))
        names = {
            keyword.path: keyword.name
            for keyword in facts.keywords(frame.recorder.plan.cls)
            if keyword.field == one.name and keyword.path
        }
        found = [in_field(kind, code, names) for kind in kinds]
        if len(found) > 1 and all(self._submodules.is_class(one) for one in found):
            value: Value = OneOf(tuple(found))
        else:
            value = self._kind_of(one, found, frame)
        return note_default(one, default, value, self._code, frame)

    def _kind_of(self, one: Field, found: list[Value], frame: Frame) -> Value:
        """Return what a field stands for, of what it is by default or given."""
        modules = [value for value in found if isinstance(value, FieldModule)]
        if len(modules) > 1:
            return FieldModule(one.name)
        if found:
            return found[0]
        if self._is_module(one, frame):
            return FieldModule(one.name)
        kind = class_in(one.annotation.annotation)
        if kind is not None:
            inner = Frame(frame.recorder, one.owner.analysis, records=False)
            held = held_kind(self._of_file(kind, inner))
            if isinstance(held, ClassRef):
                return in_field(held, f"self.{one.name}", {})
        code = f"self.{one.name}"
        return one_by_one(one, code) or Code(code, is_number=one.is_number, is_shape=one.is_shape)

    def _is_module(self, one: Field, frame: Frame) -> bool:
        annotation = one.annotation.annotation
        inner = Frame(frame.recorder, one.owner.analysis, records=False)
        found = self._of_file(annotation, inner)
        if isinstance(found, ClassRef):
            return True
        return isinstance(found, Ref) and (
            found.name == "flax.linen.Module" or find_layer(found.name) is not None
        )


def class_in(annotation: cst.BaseExpression) -> cst.BaseExpression | None:
    """Return the class in the type of a field that holds a class: ``type[Torso] | None``."""
    match annotation:
        case cst.BinaryOperation(left=left, operator=cst.BitOr(), right=right):
            return class_in(left) or class_in(right)
        case cst.Subscript(value=kind, slice=[cst.SubscriptElement(slice=cst.Index(value=inner))]):
            match dotted(kind).rpartition(".")[2]:
                case "Optional":
                    return class_in(inner)
                case "type" | "Type":
                    return inner
    return None


def _is_mixed(cls: LinenClass) -> bool:
    """Whether a module inherits from a class of the project that is no module."""
    bases = [cls.analysis.values.get(arg.value, NOT_KNOWN) for arg in cls.node.bases]
    return sum(isinstance(one, ProjectClass) for one in bases) > len(cls.bases)


def _assigned(cls: LinenClass) -> set[str]:
    """Return the attributes that methods of a module assign, and those that every object has."""
    found = {"scope", "path", "name", "variables", "parent"}
    for method in cls.methods().values():
        for node in descendants(method.node.body):
            match node:
                case cst.Assign(targets=targets):
                    found |= {
                        one.target.attr.value
                        for one in targets
                        if isinstance(one.target, cst.Attribute)
                    }
    return found
