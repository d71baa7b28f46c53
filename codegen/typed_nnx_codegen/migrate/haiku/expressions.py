"""Haiku's functions and initializers as Linen has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final

import libcst as cst
import libcst.matchers as m
from libcst.helpers import parse_template_expression

from typed_nnx_codegen.migrate.analysis.analysis import Analysis
from typed_nnx_codegen.migrate.analysis.syntax import code_of, is_name, number_of
from typed_nnx_codegen.migrate.analysis.values import UNKNOWN, External, ProjectFunction
from typed_nnx_codegen.migrate.haiku.layers import PACKAGE
from typed_nnx_codegen.migrate.linen.domain.class_plan import COUNTERPART
from typed_nnx_codegen.migrate.linen.layers import find_layer
from typed_nnx_codegen.migrate.markers import with_marks

HAIKU: Final = "haiku"
# What is for a module, and what makes random keys: neither is there outside of a transform.
STATE: Final = "state"
STREAM: Final = "default"


class Untranslated(Exception):
    """Code has no counterpart, or is not understood.

    Attributes:
        node: The code.
    """

    def __init__(self, node: cst.CSTNode, message: str) -> None:
        super().__init__(message)
        self.node = node


def haiku_name(node: cst.CSTNode, analysis: Analysis) -> str:
    """Return the name in `haiku` of what an expression names: `Linear`; empty if nothing of it."""
    value = analysis.values.get(node, UNKNOWN)
    if not isinstance(value, External) or not isinstance(node, cst.Name | cst.Attribute):
        return ""
    package, _, name = value.name.partition(".")
    return name if package == HAIKU else ""


def called_name(node: cst.CSTNode, analysis: Analysis) -> str:
    """Return the name in `haiku` of what a call calls; empty for anything else."""
    return haiku_name(node.func, analysis) if isinstance(node, cst.Call) else ""


def layer_name(name: str) -> str:
    """Return the public name of the row of a layer of Haiku; empty where it is no layer."""
    found = f"{PACKAGE}.{name.removeprefix('nets.')}"
    return found if find_layer(found) is not None else ""


@dataclass(frozen=True)
class Spelling:
    """How a file spells what translated code imports.

    Attributes:
        linen: The name of `flax.linen`.
        haiku: The name of the package that has Haiku's layers.
    """

    linen: str
    haiku: str


def bound(call: cst.Call, names: str, original: cst.Call) -> dict[str, cst.BaseExpression]:
    """Return the arguments of a call by the names of its parameters.

    Raises:
        Untranslated: The call has stars, or other parameters.
    """
    order = names.split()
    found: dict[str, cst.BaseExpression] = {}
    for place, arg in enumerate(call.args):
        name = arg.keyword.value if arg.keyword else order[place] if place < len(order) else ""
        if arg.star or name not in order:
            raise Untranslated(
                original, f"`{code_of(original.func)}` is called with other arguments"
            )
        found[name] = arg.value
    return found


def window(node: cst.BaseExpression, value: cst.BaseExpression, at: cst.Call) -> str:
    """Return a window of Haiku, with its axis of channels, as one of Linen, which has none."""
    if isinstance(node, cst.Tuple | cst.List):
        items = [code_of(one.value) for one in node.elements]
        items = items[1:-1] if len(items) > 3 and items[0] == "1" else items[:-1]
        if code_of(node.elements[-1].value) == "1" and items:
            return tuple_text(items)
    if number_of(node) is not None and isinstance(value, cst.Name):
        return f"({code_of(node)},) * ({value.value}.ndim - 2)"
    why = "its window is one number for all axes, or is computed"
    raise Untranslated(at, f"`{code_of(at.func)}`: {why}")


# -- initializers -----------------------------------------------------------------------------

_FILLS: Final = {"zeros": "zeros_init()", "ones": "ones_init()"}


class Initializers:
    """Writes Haiku's initializers, functions of shape and dtype, as those of jax, which get a key.

    Args:
        analysis: The file.
        spelling: How it spells what translated code imports.
    """

    def __init__(self, analysis: Analysis, spelling: Spelling) -> None:
        self._analysis = analysis
        self._at = f"{spelling.linen}.initializers"

    def of_call(self, name: str, node: cst.Call, original: cst.Call) -> cst.BaseExpression:
        """Return a call of one of `hk.initializers`.

        Raises:
            Untranslated: There is none of the kind in jax.
        """
        parameters, text = _INITIALIZERS.get(name, ("", ""))
        given = {key: code_of(one) for key, one in bound(node, parameters, original).items()}
        starts_at_zero = all(given.get(one, "0") in _ZERO for one in ("mean", "minval"))
        if not text or not starts_at_zero or "fan_in_axes" in given:
            raise Untranslated(original, f"jax has no initializer like `{code_of(original)}`")
        bounds = "".join(f", {key}={given[key]}" for key in ("lower", "upper") if key in given)
        return cst.parse_expression(
            f"{self._at}.{text.format(**{**_DEFAULTS, **given}, bounds=bounds)}"
        )

    def of_function(
        self, node: cst.BaseExpression, original: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return what is given for an initializer: a function of shape and dtype gets a key, too.

        Args:
            node: The expression, with what is below it translated.
            original: The expression as it was.

        Raises:
            Untranslated: It is not seen what it is called with.
        """
        fill = self.fill(original)
        if fill:
            return cst.parse_expression(f"{self._at}.{_FILLS[fill]}")
        parts = {cst.BooleanOperation: ("left", "right"), cst.IfExp: ("body", "orelse")}
        if names := parts.get(type(node), ()):
            pairs = {one: (getattr(node, one), getattr(original, one)) for one in names}
            changed = {one: self.of_function(*pair) for one, pair in pairs.items()}
            return node.with_changes(**changed)
        if isinstance(node, cst.Lambda) and len(node.params.params) == 2:
            key = cst.Param(cst.Name("key"))
            return node.with_changes(params=cst.Parameters([key, *node.params.params]))
        value = self._analysis.values.get(original, UNKNOWN)
        is_function = isinstance(value, ProjectFunction | External)
        is_named = isinstance(original, cst.Name | cst.Attribute)
        if is_function and is_named and not haiku_name(original, self._analysis):
            return parse_template_expression(
                "lambda key, shape, dtype=None: {f}(shape, dtype)", f=node
            )
        return node

    def fill(self, node: cst.BaseExpression) -> str:
        """Return `zeros` or `ones` where a function is that of numpy."""
        value = self._analysis.values.get(node, UNKNOWN)
        module, _, name = (value.name if isinstance(value, External) else "").rpartition(".")
        return name if module in ("jax.numpy", "numpy") and name in _FILLS else ""


_ZERO: Final = frozenset({"0", "0.", "0.0"})
# The parameters of each, and what it is in jax.
_INITIALIZERS: Final = {
    "Constant": ("constant", "constant({constant})"),
    "RandomNormal": ("stddev mean", "normal({stddev})"),
    "TruncatedNormal": ("stddev mean lower upper", "truncated_normal({stddev}{bounds})"),
    "RandomUniform": ("minval maxval", "uniform({maxval})"),
    "VarianceScaling": (
        "scale mode distribution fan_in_axes",
        "variance_scaling({scale}, {mode}, {distribution})",
    ),
    "UniformScaling": ("scale", 'variance_scaling(({scale}) ** 2, "fan_in", "uniform")'),
    "Orthogonal": ("scale axis", "orthogonal({scale}, {axis})"),
}
_DEFAULTS: Final = {
    **dict.fromkeys(("stddev", "maxval", "scale"), "1.0"),
    "mode": '"fan_in"',
    "distribution": '"truncated_normal"',
    "axis": "-1",
}


def is_initializer(name: str) -> bool:
    """Whether a parameter is for an initializer, by its name."""
    return name in ("init", "initializer") or name.endswith(("_init", "_initializer"))


# -- the functions of a module ----------------------------------------------------------------


@dataclass(frozen=True)
class StateOf:
    """How a module first has a state: the code of shape, dtype and initializer.

    Attributes:
        shape: The shape.
        dtype: The dtype.
        init: The function of shape and dtype.
    """

    shape: cst.BaseExpression
    dtype: cst.BaseExpression
    init: cst.BaseExpression


@dataclass
class Functions(cst.CSTTransformer):
    """Translates the code of methods.

    Args:
        analysis: The file.
        spelling: How it spells what translated code imports.
        owner: The name of the module in it; empty where there is none.
        attributes: Attributes of the module that have another name.
        states: The states of the module by name.
        problems: What is not understood.
    """

    analysis: Analysis
    spelling: Spelling
    owner: str = ""
    attributes: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, StateOf] = field(default_factory=dict)
    problems: list[Untranslated] = field(default_factory=list)

    code: ClassVar[str] = COUNTERPART

    def __post_init__(self) -> None:
        """Complete the transformer."""
        super().__init__()
        self.initializers = Initializers(self.analysis, self.spelling)
        self._setting: cst.Call | None = None
        self._unmarked: list[str] = []

    def on_leave(self, original_node: Any, updated_node: Any) -> Any:
        """Return code as it is now; what is not understood stays, below a marker."""
        try:
            found = super().on_leave(original_node, updated_node)
        except Untranslated as problem:
            self.problems.append(problem)
            self._unmarked.append(str(problem))
            return updated_node
        if self._unmarked and isinstance(
            found, cst.SimpleStatementLine | cst.BaseCompoundStatement
        ):
            lines = with_marks(
                found.leading_lines, [(self.code, "; ".join(self._unmarked))], frozenset()
            )
            self._unmarked.clear()
            return found.with_changes(leading_lines=lines)
        return found

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        """Return what a name is now."""
        name = haiku_name(original_node, self.analysis)
        return self.of_haiku(name, original_node, updated_node) if name else updated_node

    def leave_Attribute(
        self, original_node: cst.Attribute, updated_node: cst.Attribute
    ) -> cst.BaseExpression:
        """Return what an attribute is now."""
        name = haiku_name(original_node, self.analysis)
        if name:
            return self.of_haiku(name, original_node, updated_node)
        attribute = original_node.attr.value
        if self.owner and is_name(original_node.value, self.owner):
            if attribute in ("module_name", "params_dict", "state_dict"):
                raise Untranslated(original_node, f"NNX has no `{attribute}`")
            if attribute in self.attributes:
                return updated_node.with_changes(attr=cst.Name(self.attributes[attribute]))
        return updated_node

    def of_haiku(
        self, name: str, original: cst.Name | cst.Attribute, updated: cst.BaseExpression
    ) -> cst.BaseExpression:
        """Return what a name of Haiku is now."""
        if name == "Sequential":
            return cst.parse_expression(f"{self.spelling.linen}.{name}")
        if name in ("Module", "RNNCore") or layer_name(name):
            last = "Module" if name == "RNNCore" else name.removeprefix("nets.")
            return cst.parse_expression(f"{self.spelling.haiku}.{last}")
        if name == "initializers.Initializer":
            return cst.parse_expression(f"{self.spelling.linen}.{name}")
        if name in _OF_TYPES:
            return cst.parse_expression("dict[str, Any]")
        if name in _LEFT or name.partition(".")[0] in ("nets", "initializers"):
            return updated  # `leave_Call` says what becomes of what is called
        if name.startswith("pad."):
            raise Untranslated(original, "NNX has no paddings that are functions")
        raise Untranslated(original, f"`{code_of(original)}` is not migrated")

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.BaseExpression:
        """Return what a call is now."""
        name = haiku_name(original_node.func, self.analysis)
        if name.startswith("initializers."):
            return self.initializers.of_call(
                name.removeprefix("initializers."), updated_node, original_node
            )
        if name in _CALLED:
            return self._function(name, updated_node, original_node)
        if name in _STATELESS:
            return self._stateless(name, updated_node, original_node)
        args = [
            self._arg(arg, was)
            for arg, was in zip(updated_node.args, original_node.args, strict=True)
        ]
        match updated_node.func:
            # A layer without parameters that is called where it is made.
            case cst.Lambda() as function if called_name(
                original_node.func, self.analysis
            ) in _STATELESS and isinstance(args[0].value, cst.Name):
                parameter = m.Name(function.params.params[0].name.value)
                found = m.replace(function.body, parameter, args[0].value)
                assert isinstance(found, cst.BaseExpression)
                return found
        return updated_node.with_changes(args=args)

    def _arg(self, arg: cst.Arg, original: cst.Arg) -> cst.Arg:
        keyword = "" if arg.keyword is None else arg.keyword.value
        if keyword == "name":
            return arg.with_changes(value=as_f_string(arg.value))
        if is_initializer(keyword) and self.initializers.fill(original.value):
            return arg.with_changes(value=self.initializers.of_function(arg.value, original.value))
        return arg

    def _function(self, name: str, node: cst.Call, original: cst.Call) -> cst.BaseExpression:
        given = bound(node, _CALLED[name], original)
        match name:
            case "max_pool" | "avg_pool":
                return cst.parse_expression(self._pool(name, given, original))
            case "dynamic_unroll":
                return cst.parse_expression(self._unrolled(given, original))
            case "one_hot":
                return node.with_changes(func=cst.parse_expression("jax.nn.one_hot"))
        if not self.owner:
            raise Untranslated(
                original, f"`{code_of(original.func)}` is called outside of a module"
            )
        match name:
            case "set_state" if original is self._setting:
                return node
            case "next_rng_key":
                return cst.parse_expression(f'{self.owner}.make_rng("{STREAM}")')
            case "get_parameter":
                return self._parameter(given, original)
            case "get_state":
                return self._state(given["name"], original)
            case "dropout":
                was = bound(original, _CALLED[name], original)["rng"]
                called = was.func if isinstance(was, cst.Call) else was
                if haiku_name(called, self.analysis) != "next_rng_key":
                    raise Untranslated(original, "`hk.dropout` with another key than the next one")
                axes = given.get("broadcast_dims")
                extra = "" if axes is None else f", broadcast_dims={code_of(axes)}"
                rate, x = code_of(given["rate"]), code_of(given["x"])
                made = f"{self.spelling.linen}.Dropout({rate}{extra}, deterministic=False)({x})"
                return cst.parse_expression(made)
        raise Untranslated(original, f"`{code_of(original.func)}` is used for its value")

    def _pool(self, name: str, given: Mapping[str, cst.BaseExpression], original: cst.Call) -> str:
        value = given["value"]
        if code_of(given.get("channel_axis", cst.Name("_"))) not in ("_", "-1"):
            raise Untranslated(original, f"`{code_of(original.func)}` has channels in another axis")
        sizes = [window(given[one], value, original) for one in ("window_shape", "strides")]
        counted = ", count_include_pad=False" if name == "avg_pool" else ""
        padding = code_of(given["padding"])
        return (
            f"{self.spelling.linen}.{name}({code_of(value)}, {sizes[0]}, strides={sizes[1]},"
            f" padding={padding}{counted})"
        )

    def _unrolled(self, given: Mapping[str, cst.BaseExpression], original: cst.Call) -> str:
        """Return a core that runs over time, as a scan: it returns the state first."""
        texts = {name: code_of(one) for name, one in given.items()}
        is_major = texts.get("time_major", "True")
        if is_major not in ("True", "False") or texts.get("return_all_states", "False") != "False":
            raise Untranslated(original, f"`{code_of(original.func)}` with all states")
        axes = "" if is_major == "True" else ", in_axes=1, out_axes=1"
        more = "".join(f", {one}={texts[one]}" for one in ("reverse", "unroll") if one in texts)
        lifted = f'variable_broadcast="params", split_rngs={{"params": False}}{axes}{more}'
        step = "lambda core, state, inputs: core(inputs, state)[::-1]"
        called = ", ".join(texts[one] for one in ("core", "initial_state", "input_sequence"))
        return f"{self.spelling.linen}.scan({step}, {lifted})({called})[::-1]"

    def _stateless(self, name: str, node: cst.Call, original: cst.Call) -> cst.BaseExpression:
        """Return a layer without parameters as a function."""
        if name in ("MaxPool", "AvgPool"):
            given = bound(node, "window_shape strides padding channel_axis name", original)
            function = f"{name[:3].lower()}_pool"
            called = {"value": cst.Name("x"), **given}
            return cst.parse_expression(f"(lambda x: {self._pool(function, called, original)})")
        shape_first = "output_shape " * (name == "Reshape")
        given = bound(node, f"{shape_first}preserve_dims name", original)
        kept = number_of(given["preserve_dims"]) if "preserve_dims" in given else 1
        if not isinstance(kept, int) or kept < 1:
            raise Untranslated(original, f"`hk.{name}` with `preserve_dims` that is computed")
        sizes = [f"x.shape[{axis}]" for axis in range(kept)]
        if name == "Flatten":
            sizes.append("-1")
        else:
            shape = given["output_shape"]
            items = shape.elements if isinstance(shape, cst.Tuple | cst.List) else None
            sizes += (
                [f"*{code_of(shape)}"] if items is None else [code_of(one.value) for one in items]
            )
        return cst.parse_expression(f"(lambda x: x.reshape(({', '.join(sizes)})))")

    def _parameter(
        self, given: Mapping[str, cst.BaseExpression], original: cst.Call
    ) -> cst.BaseExpression:
        if not {"name", "shape", "init"} <= set(given):
            raise Untranslated(original, "`hk.get_parameter` without shape or initializer")
        was = bound(original, _CALLED["get_parameter"], original)
        init = self.initializers.of_function(given["init"], was["init"])
        args = [as_f_string(given["name"]), init, _as_tuple(given["shape"])]
        return self._own_call("param", *args, *([given["dtype"]] if "dtype" in given else []))

    def _own_call(self, method: str, *args: cst.BaseExpression) -> cst.Call:
        called = cst.Attribute(cst.Name(self.owner), cst.Name(method))
        return cst.Call(called, [cst.Arg(one) for one in args])

    def _state(self, name: cst.BaseExpression, original: cst.CSTNode) -> cst.Attribute:
        """Return the code of a state as the value of a variable of Linen."""
        text = name.raw_value if isinstance(name, cst.SimpleString) else ""
        state = self.states.get(text)
        if state is None:
            raise Untranslated(
                original, f"the module does not say how the state {code_of(name)} begins"
            )
        kind = cst.SimpleString(f'"{STATE}"')
        made = self._own_call("variable", kind, name, state.init, state.shape, state.dtype)
        return cst.Attribute(made, cst.Name("value"))

    def visit_Expr(self, node: cst.Expr) -> bool:
        """Note a statement that sets a state."""
        if (
            isinstance(node.value, cst.Call)
            and called_name(node.value, self.analysis) == "set_state"
        ):
            self._setting = node.value
        return True

    def leave_Expr(self, original_node: cst.Expr, updated_node: cst.Expr) -> cst.BaseSmallStatement:
        """Return `hk.set_state(...)` as an assignment."""
        call, was = updated_node.value, original_node.value
        if was is not self._setting or not isinstance(call, cst.Call) or self._setting is None:
            return updated_node
        given = bound(call, _CALLED["set_state"], self._setting)
        target = cst.AssignTarget(self._state(given["name"], was))
        return cst.Assign([target], given["value"])


_STATELESS: Final = frozenset({"Flatten", "Reshape", "MaxPool", "AvgPool"})
# What is called, and its parameters.
_CALLED: Final = {
    "get_parameter": "name shape dtype init",
    "get_state": "name shape dtype init",
    "set_state": "name value",
    "next_rng_key": "",
    "dropout": "rng rate x broadcast_dims",
    "max_pool": "value window_shape strides padding channel_axis",
    "avg_pool": "value window_shape strides padding channel_axis",
    "one_hot": "x num_classes dtype",
    "dynamic_unroll": "core input_sequence initial_state time_major reverse return_all_states unroll",
}
# Names that stay: packages, what needs no transform, and what `leave_Call` translates.
_LEFT: Final = frozenset(
    {
        *("PRNGSequence", "multinomial", "transform", "transform_with_state", "without_apply_rng"),
        *("mixed_precision", "experimental", "testing", "config", "pad", *_CALLED, *_STATELESS),
    }
)
_OF_TYPES: Final = frozenset({"Params", "State", "MutableParams", "MutableState"})


def tuple_text(items: Sequence[str]) -> str:
    """Return the code of a tuple."""
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _as_tuple(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return a literal list as a tuple."""
    if not isinstance(node, cst.List):
        return node
    plain = (one.with_changes(comma=cst.MaybeSentinel.DEFAULT) for one in node.elements)
    return cst.parse_expression(tuple_text([*map(code_of, plain)]))


def as_f_string(node: cst.BaseExpression) -> cst.BaseExpression:
    """Return a text that is filled with `%` or `format` as an f-string; anything else as it is."""
    match node:
        case cst.BinaryOperation(
            left=cst.SimpleString() as text, operator=cst.Modulo(), right=right
        ):
            items = (
                [one.value for one in right.elements] if isinstance(right, cst.Tuple) else [right]
            )
            pieces = str(text.evaluated_value).replace("%i", "%d").replace("%s", "%d").split("%d")
        case cst.Call(
            func=cst.Attribute(value=cst.SimpleString() as text, attr=cst.Name(value="format")),
            args=args,
        ):
            items = [one.value for one in args]
            pieces = str(text.evaluated_value).split("{}")
        case _:
            return node
    if len(pieces) != len(items) + 1 or any(set(piece) & set("%{}\\'\"") for piece in pieces):
        return node
    filled = "".join(
        f"{piece}{{{code_of(item)}}}" for piece, item in zip(pieces, items, strict=False)
    )
    return cst.parse_expression(f'f"{filled}{pieces[-1]}"')
