"""Defaults of fields: modules among them are built where a module is constructed without them."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import libcst as cst

from typed_nnx_codegen.migrate.analysis.syntax import descendants, is_name
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN as NOT_KNOWN
from typed_nnx_codegen.migrate.analysis.values import External
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.linen.marker_codes import COUNTERPART
from typed_nnx_codegen.migrate.linen.modules.classes import Field
from typed_nnx_codegen.migrate.linen.running.frames import Evaluate, Frame, Line
from typed_nnx_codegen.migrate.linen.running.references import (
    FieldModule,
    ModuleValue,
    Partial,
    Ref,
    Repeated,
)
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Seq, Table, Value
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

# What NNX may call otherwise; other keywords stay as they are written.
_RENAMED: Final = "features"
_FIELD_FUNCTIONS: Final = frozenset(
    {"dataclasses.field", "flax.struct.field", "flax.linen.kw_only_dataclasses.field"}
)


def default_of(one: Field, evaluate: Evaluate, frame: Frame) -> Value:
    """Return the default of a field, in the file of the class that declares it."""
    if one.default is None:
        return UNKNOWN
    inner = Frame(frame.recorder, one.owner.analysis, records=False)
    for other in one.owner.own_fields:
        if other.name == one.name:
            break
        if any(is_name(node, other.name) for node in descendants(one.default)):
            # In the body of a class the name is the default of that field.
            inner.names[other.name] = default_of(other, evaluate, frame)
    options = _options(one, one.default)
    if options is None:
        return evaluate(one.default, inner)
    if "default_factory" in options:
        made = cst.Call(options["default_factory"])
        return evaluate(made, inner)
    return evaluate(options["default"], inner) if "default" in options else UNKNOWN


def note_default(
    one: Field, value: Value, found: Value, writer: ConstructorCode, frame: Frame
) -> Value:
    """Let the constructor build a module that is the default of a field.

    Args:
        one: The field.
        value: Its default.
        found: What it stands for.
        writer: Writes expressions for the constructor.
        frame: A frame of the module that is planned.

    Returns:
        What the field stands for now.
    """
    plan = frame.recorder.plan
    layer = find_layer(value.name) if isinstance(value, Ref) else None
    if layer is not None and layer.definition is not None:
        code = writer.of_value(value, frame)
        if code is not None:
            plan.defaults[one.name] = code
    if isinstance(value, Partial) and (value.args or _RENAMED in value.keywords):
        code = writer.of_value(value, frame)
        if code is not None:
            plan.defaults[one.name] = code
    if isinstance(value, ModuleValue) and isinstance(found, FieldModule):
        site = value.site
        site.linen = site.attribute = one.name
        site.reference = f"self.{one.name}"
        site.is_default = True
        plan.sites.append(site)
        plan.built.add(one.name)
        frame.recorder.setup.append(Line("", site=site))
        return replace(found, site=site)
    if _holds_module(value):
        plan.defaults[one.name] = "None"
        frame.recorder.mark(
            one.statement, f"the default of `{one.name}` holds modules that all share", COUNTERPART
        )
    return found


def _holds_module(value: Value) -> bool:
    match value:
        case ModuleValue():
            return True
        case Seq(items=items):
            return any(_holds_module(item) for item in items)
        case Table(items=table):
            return any(_holds_module(item) for item in table.values())
        case Repeated(element=element):
            return _holds_module(element)
    return False


def _options(one: Field, default: cst.BaseExpression) -> dict[str, cst.BaseExpression] | None:
    """Return the arguments of `dataclasses.field`; None where the default is no call of it."""
    if not isinstance(default, cst.Call):
        return None
    value = one.owner.analysis.values.get(default.func, NOT_KNOWN)
    if not isinstance(value, External) or value.name not in _FIELD_FUNCTIONS:
        return None
    return {arg.keyword.value: arg.value for arg in default.args if arg.keyword is not None}
