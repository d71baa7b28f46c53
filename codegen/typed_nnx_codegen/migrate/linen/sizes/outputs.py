"""The sizes that modules make of which only the object itself knows: `self.encoder.out_features`."""

from __future__ import annotations

from typing import Final

from typed_nnx_codegen.migrate.linen.layers import Inputs, find_layer
from typed_nnx_codegen.migrate.linen.modules.classes import LinenClass
from typed_nnx_codegen.migrate.linen.modules.field_facts import FieldFacts
from typed_nnx_codegen.migrate.linen.plan import Site
from typed_nnx_codegen.migrate.linen.running.frames import CallMethod, Frame, Line, Recorder
from typed_nnx_codegen.migrate.linen.running.passed import Passed
from typed_nnx_codegen.migrate.linen.running.references import ClassRef, FieldModule, Ref, SelfValue
from typed_nnx_codegen.migrate.linen.running.values import UNKNOWN, Array, Shape, Value
from typed_nnx_codegen.migrate.linen.sizes.dims import Dim, Piece, as_dim
from typed_nnx_codegen.migrate.linen.writing.constructor_code import ConstructorCode

ATTRIBUTE: Final = "out_features"
# Where objects of NNX have the last size of what they return.
_OF_LAYERS: Final = {
    "nnx.Linear": ATTRIBUTE,
    "nnx.Conv": ATTRIBUTE,
    "nnx.ConvTranspose": ATTRIBUTE,
    "nnx.Embed": "features",
}


def of_field(
    call_method: CallMethod,
    facts: FieldFacts,
    receiver: FieldModule,
    method: str,
    values: dict[str, Value],
    passed: list[Passed],
    frame: Frame,
) -> Value:
    """Return what a call of a module that a field holds returns."""
    match receiver.default:
        case Ref(name=name):
            layer = find_layer(name)
            if layer is None or method not in layer.calls:
                return UNKNOWN
            try:
                found = layer.output({}, Inputs(values), method)
            except (KeyError, AttributeError, TypeError):
                return UNKNOWN
            attribute = _OF_LAYERS.get(layer.nnx, "")
            return with_last(found, f"self.{receiver.name}.{attribute}") if attribute else found
        case ClassRef(cls=cls):
            called = cls.method(method)
            if called is None:
                return UNKNOWN
            instance = SelfValue(cls, {one.name: UNKNOWN for one in cls.fields()})
            inner = Frame(frame.recorder, frame.analysis, records=False, root=frame.root)
            found = call_method(instance, called, passed, called.node.name, inner)
            if method == "__call__" and facts.has_output(cls):
                return with_last(found, f"self.{receiver.name}.{ATTRIBUTE}")
            return found
    return UNKNOWN


def of_alternatives(
    facts: FieldFacts, site: Site, results: list[Value], joined: Value, frame: Frame
) -> Value:
    """Return what a call of an object of one of several classes returns."""
    targets = [site.target, *(one.target for one in site.alternatives)]
    if not isinstance(joined, Array) or not all(isinstance(one, Array) for one in results):
        return joined
    if site not in frame.recorder.plan.sites and frame.recorder.is_recording:
        return joined  # another module constructs it: nothing here names it
    if not set(site.loops) <= set(frame.recorder.loops):
        return joined  # one of the items of a list: nothing says which
    if joined.shape.axis(-1) is not None or not joined.shape.expanded(1).dims:
        return joined
    for target in targets:
        if isinstance(target, LinenClass):
            if not facts.has_output(target):
                return joined
        else:
            layer = find_layer(target)
            if layer is None or _OF_LAYERS.get(layer.nnx) != ATTRIBUTE:
                return joined
    if not frame.records:
        return joined  # another module has it
    token = frame.recorder.templates.object_token(site)
    return with_last(joined, f"{token}.{ATTRIBUTE}")


def with_last(value: Value, code: str) -> Value:
    """Return an array whose last size an expression says, where it is not known."""
    if not isinstance(value, Array):
        return value
    shape = value.shape.expanded(1)
    if not shape.dims:
        return value
    size: Dim = as_dim(Piece(code))
    return Array(Shape((*shape.dims[:-1], size), shape.lead), value.dtype)


def write_output(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Let a module know the last size of what it returns; return whether that is known."""
    size = _last_size(writer, recorder, value)
    if size is None:
        return False
    code = recorder.templates.token(size)
    recorder.block.append(Line(f"self.{ATTRIBUTE} = {code}"))
    return True


def is_sayable(writer: ConstructorCode, recorder: Recorder, value: Value) -> bool:
    """Whether the constructor of a module can say the last size of what it returns."""
    return _last_size(writer, recorder, value) is not None


def _last_size(writer: ConstructorCode, recorder: Recorder, value: Value) -> Dim | None:
    cls = recorder.plan.cls
    if ATTRIBUTE in {*(one.name for one in cls.fields()), *cls.methods()}:
        return None
    size = value.shape.axis(-1) if isinstance(value, Array) else None
    frame = Frame(recorder, cls.analysis, recorder.instance)
    if size is None or not writer.sizes_are_visible(size, frame):
        return None
    return size
