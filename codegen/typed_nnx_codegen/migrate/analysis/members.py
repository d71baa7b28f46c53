"""What attributes and items of a value stand for."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.analysis import nnx_classes
from typed_nnx_codegen.migrate.analysis.linen_defaults import makes_linen
from typed_nnx_codegen.migrate.analysis.type_texts import value_of
from typed_nnx_codegen.migrate.analysis.values import (
    ARRAY,
    NONE,
    NOTHING,
    UNKNOWN,
    Array,
    Collection,
    Constant,
    External,
    Instance,
    Method,
    OneOf,
    Plain,
    ProjectClass,
    ProjectFunction,
    ProjectModule,
    Value,
    join,
    options_of,
    without_none,
)

# Attributes of arrays that are no arrays.
_ABOUT_ARRAYS: Final = frozenset(
    {"dtype", "itemsize", "nbytes", "ndim", "shape", "sharding", "size"}
)
_ARRAYS_IN_ARRAYS: Final = frozenset({"T", "at", "imag", "mT", "real"})
# What Variables give of their value, beside methods.
_VALUES: Final = frozenset({"value", "raw_value"})
# They are made of a Module, and have it as an attribute; an Optimizer did before flax 0.11.
_OF_A_MODEL: Final = frozenset({"Optimizer", "ModelAndOptimizer"})


# -- classes ------------------------------------------------------------------------------------


def nnx_name(value: Value | str | ProjectClass) -> str:
    """Return the name of an NNX class without the package; empty for any other class."""
    if isinstance(value, External):
        value = value.public
    if not isinstance(value, str):
        return ""
    return value[4:] if value.startswith("nnx.") else ""


def ancestry(cls: str | ProjectClass) -> tuple[list[ProjectClass | str], bool]:
    """Return the classes that a class inherits from, itself first, and whether that is all.

    NNX classes are public names without the package (``Linear``).
    """
    if isinstance(cls, str):
        name = nnx_name(cls)
        known = nnx_classes.known_class(name) is not None
        return (list(nnx_classes.mro(name)) if known else [cls], known)
    found: list[ProjectClass | str] = []
    is_complete = _collect(cls, found)
    return found, is_complete


def _collect(cls: ProjectClass, found: list[ProjectClass | str]) -> bool:
    if cls in found:
        return True
    found.append(cls)
    is_complete = True
    for base in cls.bases:
        if isinstance(base, ProjectClass):
            is_complete = _collect(base, found) and is_complete
        elif nnx_classes.known_class(nnx_name(base)) is not None:
            found.extend(name for name in nnx_classes.mro(nnx_name(base)) if name not in found)
        elif not (isinstance(base, External) and _adds_nothing(base.name)):
            is_complete = False
    return is_complete


def _adds_nothing(name: str) -> bool:
    module = name.rpartition(".")[0]
    return module in {"typing", "abc", "typing_extensions"} or name == "builtins.object"


def base_of(value: Value) -> Value:
    """Return a base class: that of NNX where ``object`` stands in for it if NNX is not there."""
    options = [
        option
        for option in options_of(without_none(value))
        if not (isinstance(option, External) and option.name == "builtins.object")
    ]
    return options[0] if len(options) == 1 and nnx_name(options[0]) else value


def derives(value: Value, *names: str) -> bool | None:
    """Whether a value is an object of an NNX class (``Module``); None where that is not sure."""
    if isinstance(value, OneOf):
        answers = {derives(option, *names) for option in value.options if option != NONE}
        return answers.pop() if len(answers) == 1 else None
    if value in (UNKNOWN, NOTHING) or isinstance(value, Method):
        return None
    if not isinstance(value, Instance):
        return False
    return class_derives(value.cls, *names)


def class_derives(cls: str | ProjectClass, *names: str) -> bool | None:
    """Whether a class is one of some NNX classes or inherits from one; None where not sure."""
    found, is_complete = ancestry(cls)
    if any(name in found for name in names):
        return True
    return False if is_complete or (isinstance(cls, str) and nnx_name(cls)) else None


def is_data(value: Value) -> bool:
    """Whether a value is surely an array or a Variable, so that arithmetic on it gives an array."""
    return isinstance(value, Array) or derives(value, "Variable") is True


# -- attributes ---------------------------------------------------------------------------------


def member_of(value: Value, name: str) -> Value:
    """Return what an attribute of a value stands for."""
    match value:
        case OneOf():
            known = without_none(value)
            if isinstance(known, OneOf):
                return join(*(member_of(option, name) for option in known.options))
            return member_of(known, name)
        case External():
            return External(f"{value.name}.{name}")
        case ProjectModule():
            return value.names.name(name) or UNKNOWN
        case Instance():
            return _member_of_instance(value, name)
        case ProjectClass():
            return _member_of_class(value, name)
        case Array():
            if name in _ABOUT_ARRAYS:
                return Plain(name)
            return ARRAY if name in _ARRAYS_IN_ARRAYS else Method(value, name)
        case Collection() | Constant() | Plain():
            return Method(value, name)
        case _:
            return NOTHING if value == NOTHING else UNKNOWN


def _member_of_class(cls: ProjectClass, name: str) -> Value:
    found, is_complete = ancestry(cls)
    for base in found:
        if isinstance(base, ProjectClass):
            if name in base.methods:
                return Method(cls, name, base.methods[name])
            if name in base.rebound:
                return _any_of_its_type(base.attributes.get(name, UNKNOWN))
            if name in base.attributes:
                return UNKNOWN if is_enum(cls) else base.attributes[name]
            continue
        known = nnx_classes.known_class(base)
        if known is not None and name in known.methods:
            return Method(cls, name)
    return UNKNOWN if not is_complete else NOTHING


def is_enum(cls: ProjectClass) -> bool:
    """Whether a class is an Enum: what its body binds are members, not the values themselves."""
    bases = [
        base for one in ancestry(cls)[0] if isinstance(one, ProjectClass) for base in one.bases
    ]
    return any(isinstance(base, External) and base.name.startswith("enum.") for base in bases)


def _any_of_its_type(value: Value) -> Value:
    return Plain(value.type_name) if isinstance(value, Constant) else value


def _member_of_instance(value: Instance, name: str) -> Value:
    if derives(value, "State"):
        return _member_of_state(value, name)
    found, is_complete = ancestry(value.cls)
    for base in found:
        member = _own_member(value, base, name)
        if member is not None:
            return member
    for base in found:
        if isinstance(base, str) and base in nnx_classes.CLASSES:
            rest = nnx_classes.CLASSES[base].attributes.get(nnx_classes.EVERY_OTHER)
            if rest is not None and base != "Dict":
                return value_of(rest, value)
    if "Variable" in found:
        return Method(ARRAY, name) if name not in _ABOUT_ARRAYS else Plain(name)
    if "Dict" in found and not isinstance(value.cls, ProjectClass):
        return value.of
    if name in ("init", "clone") and makes_linen(value.cls):
        return Method(value, name)
    return NOTHING if is_complete and isinstance(value.cls, ProjectClass) else UNKNOWN


def _own_member(value: Instance, base: ProjectClass | str, name: str) -> Value | None:
    """Return the member that one class of the ancestry gives an object; None if it gives none."""
    if isinstance(base, ProjectClass):
        if name in base.methods:
            return _method_or_property(value, base.methods[name])
        if base.annotated.get(name, UNKNOWN) != UNKNOWN:
            return base.annotated[name]
        return base.attributes.get(name, base.annotated.get(name))
    known = nnx_classes.known_class(base)
    if known is None:
        return None
    if name in _VALUES and base == "Variable":
        return ARRAY if value.of in (UNKNOWN, NOTHING) else value.of
    if name in known.methods:
        return Method(value, name)
    if name == "model" and base in _OF_A_MODEL and value.of not in (UNKNOWN, NOTHING):
        return value.of
    text = known.attributes.get(name)
    return value_of(text, value) if text is not None else None


def _method_or_property(value: Instance, function: ProjectFunction) -> Value:
    if any(
        name.rpartition(".")[2] in {"property", "cached_property"} for name in function.decorators
    ):
        return function.result
    return Method(value, function.name, function)


def _member_of_state(value: Instance, name: str) -> Value:
    if name in nnx_classes.CLASSES["State"].methods:
        return Method(value, name)
    return state_item(value, Constant(name, "str"))


# -- items --------------------------------------------------------------------------------------


def state_item(value: Instance, key: Value) -> Value:
    """Return what a State has under a key: the Variable, or the State of what is below."""
    model = value.of
    if model in (UNKNOWN, NOTHING) or not isinstance(key, Constant):
        return UNKNOWN
    if isinstance(key.value, str):
        below = member_of(model, key.value)
    else:
        below = item_of(model, key.value if isinstance(key.value, int) else None, None)
    if derives(below, "Variable"):
        return below
    if below in (UNKNOWN, NOTHING) or isinstance(below, (Method, Plain, Constant)):
        return UNKNOWN
    return Instance("nnx.State", below)


def element_of(value: Value) -> Value:
    """Return what each item of a value stands for."""
    match value:
        case OneOf():
            return join(*(element_of(option) for option in without_none_options(value)))
        case Collection(kind="dict"):
            return _keys_of(value)
        case Collection():
            return value.element
        case Array():
            return ARRAY
        case Instance():
            if derives(value, "List", "Sequential"):
                return value.of
            if value.cls == "nnx.FlatState":
                return Collection("tuple", (UNKNOWN, Instance("nnx.Variable")), UNKNOWN)
            return UNKNOWN
        case _:
            return NOTHING if value == NOTHING else UNKNOWN


def without_none_options(value: OneOf) -> tuple[Value, ...]:
    """Return the options of a value but None."""
    return tuple(option for option in value.options if option != NONE)


def item_of(value: Value, index: int | None, count: int | None) -> Value:
    """Return the item at an index.

    Args:
        value: The value.
        index: The index; None for any.
        count: How many items are unpacked; None outside of unpacking.
    """
    if isinstance(value, OneOf):
        return join(*(item_of(option, index, count) for option in without_none_options(value)))
    if isinstance(value, Collection) and value.kind != "dict":
        if value.items is None or index is None:
            return value.element
        if count is not None and count != len(value.items):
            return UNKNOWN
        if -len(value.items) <= index < len(value.items):
            return value.items[index]
        return UNKNOWN
    return element_of(value)


def _keys_of(value: Collection) -> Value:
    if not value.keys:
        return UNKNOWN
    return join(*(Constant(key, type(key).__name__) for key in value.keys))


def item_of_dict(receiver: Collection, key: Value) -> Value:
    """Return what a dict has under a key; any of its items where that is not known."""
    if receiver.keys is None or receiver.items is None or not isinstance(key, Constant):
        return receiver.element
    if key.value not in receiver.keys:
        return receiver.element
    return receiver.items[receiver.keys.index(key.value)]
