"""The tables of classes and functions say what objects of both runtimes are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import flax.nnx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import typed_nnx
from tests.codegen.migrate.nnx_objects import LAYERS, OTHERS, made, result_of_call, rngs
from typed_nnx_codegen.migrate.analysis.name_lookup import names
from typed_nnx_codegen.migrate.analysis.nnx_classes import (
    CLASSES,
    EVERY_OTHER,
    FUNCTIONS,
    attribute_type,
    class_of,
    function_result,
    is_subclass,
    method_result,
    mro,
)

CASES = (*LAYERS, *OTHERS)
CALLED = [case for case, (_, value) in LAYERS.items() if value is not None]

# What programs of older versions found in objects, and what only some objects have.
OLDER_ATTRIBUTES = {
    *("kernel_init", "bias_init", "scale_init", "embedding_init", "recurrent_kernel_init"),
    *("model", "out_sharding", "sharding"),
}
OLDER_METHODS = {
    "Module": {
        *("clone", "create_abstract", "extract", "filter", "get_state", "init", "make_rng"),
        *("apply", "get_graphdef", "modules"),
        *("partial_init", "pop", "split", "update", "update_state"),
    },
    "GraphDef": {"init", "merge"},
    "FlatState": {"items", "keys", "values"},
    "Rngs": {"copy", "make_rng"},
}

# Filters, settings, contexts of `split` and `merge`, and aliases of types: no analysis asks.
WITHOUT_TYPES = {
    *("All", "Any", "Everything", "Not", "Nothing", "OfType", "PathContains", "PathIn", "WithTag"),
    *("MergeContext", "SplitContext", "UpdateContext", "current_update_context", "merge_context"),
    *("split_context", "update_context", "logical_axis_rules", "var_defaults", "set_graph_mode"),
    *("set_graph_updates", "set_verify_records", "use_eager_sharding", "to_predicate"),
    *("Carry", "Data", "Initializer", "JitWrapped", "NodeStates", "PARTITION_NAME", "PureState"),
    *("Static", "StreamBackup", "SupportsState", "install_as_flax_nnx"),
}

# Older spellings warn, which is what other tests are about.
pytestmark = pytest.mark.filterwarnings("ignore")

in_both_runtimes = pytest.mark.parametrize(
    "lib", [flax.nnx, typed_nnx], ids=["flax.nnx", "typed_nnx"]
)


def found_in(check: Callable[[], Iterator[str]]) -> list[str]:
    """Return what a check yields while jax traces it: nothing is compiled or computed."""
    found: list[str] = []
    # The metrics of flax mix dtypes, which the settings of these tests forbid.
    with jax.numpy_dtype_promotion("standard"):
        jax.eval_shape(lambda: found.extend(check()))
    return found


def class_named(lib: Any, name: str) -> Any:
    """Return the class of a runtime with a name of the table; None where it is no name of now."""
    for place in (lib, lib.metrics, lib.bridge):
        if name in vars(place):
            return vars(place)[name]
    return lib.bridge.Module if name == "bridge.Module" else None


@in_both_runtimes
def test_attributes_are_what_the_table_says(lib: Any) -> None:
    def check() -> Iterator[str]:
        for case in CASES:
            made_object = made(lib, case)
            for attribute, value in getattr(made_object, "__dict__", {}).items():
                text = attribute_type(type(made_object).__name__, attribute)
                if attribute[0] not in "_0" and (text is None or not is_of(value, text)):
                    yield f"{case}.{attribute}: {type(value)}, not {text}"

    assert found_in(check) == []


@in_both_runtimes
def test_objects_have_what_the_table_lists(lib: Any) -> None:
    def check() -> Iterator[str]:
        for case in CASES:
            made_object = made(lib, case)
            for name in mro(type(made_object).__name__):
                for attribute, text in CLASSES[name].attributes.items():
                    if attribute in OLDER_ATTRIBUTES | {EVERY_OTHER}:
                        continue
                    if not is_of(getattr(made_object, attribute, NotImplemented), text):
                        yield f"{case}.{attribute} is no {text}"

    assert found_in(check) == []


def test_methods_of_the_table_are_methods() -> None:
    def check() -> Iterator[str]:
        for case in CASES:
            both = [made(lib, case) for lib in (flax.nnx, typed_nnx)]
            for name in mro(type(both[0]).__name__):
                for method in CLASSES[name].methods.keys() - OLDER_METHODS.get(name, set()):
                    if not any(hasattr(each, method) for each in both):
                        yield f"{name}.{method}"

    assert found_in(check) == []


@in_both_runtimes
def test_older_methods_are_none_of_now(lib: Any) -> None:
    there = [
        f"{name}.{method}"
        for name, methods in OLDER_METHODS.items()
        for method in methods
        if hasattr(class_named(lib, name), method)
    ]
    assert there == []


@in_both_runtimes
def test_a_class_inherits_from_what_the_table_says(lib: Any) -> None:
    found = {name: class_named(lib, name) for name in CLASSES}
    classes = {name: cls for name, cls in found.items() if isinstance(cls, type)}
    assert len(classes) > 50
    for name, cls in classes.items():
        above = {other for other, base in classes.items() if base in cls.__mro__}
        assert set(mro(name)) == above, name


@in_both_runtimes
def test_a_call_of_a_layer_gives_what_the_table_says(lib: Any) -> None:
    def check() -> Iterator[str]:
        for case in CALLED:
            text = method_result(case.split()[0], "__call__")
            assert text is not None
            if not is_of(result_of_call(lib, case), text):
                yield f"{case} does not give {text}"

    assert found_in(check) == []


METHOD_CALLS: dict[str, Callable[[Any], Any]] = {
    "Rngs.fork": lambda lib: rngs(lib).fork(),
    "Rngs.split": lambda lib: rngs(lib).split(2),
    "Rngs.__call__": lambda lib: rngs(lib)(),
    "Rngs.__getitem__": lambda lib: rngs(lib)["dropout"],
    "Rngs.items": lambda lib: list(rngs(lib).items()),
    "Rngs.normal": lambda lib: rngs(lib).normal((2,)),
    "Rngs.lecun_normal": lambda lib: rngs(lib).lecun_normal(),
    "RngStream.fork": lambda lib: rngs(lib).dropout.fork(),
    "RngStream.split": lambda lib: rngs(lib).dropout.split(2),
    "RngStream.__call__": lambda lib: rngs(lib).dropout(),
    "Param.__getitem__": lambda lib: made(lib, "Param")[...],
    "Param.get_value": lambda lib: made(lib, "Param").get_value(),
    "Param.mean": lambda lib: made(lib, "Param").mean(),
    "State.__getitem__": lambda lib: made(lib, "State")["kernel"],
    "State.items": lambda lib: list(made(lib, "State").items()),
    "State.values": lambda lib: list(made(lib, "State").values()),
    "FlatState.__iter__": lambda lib: list(made(lib, "FlatState")),
    "FlatState.to_nested_state": lambda lib: made(lib, "FlatState").to_nested_state(),
    "GraphDef.apply": lambda lib: made(lib, "GraphDef").apply(made(lib, "State")),
    "Module.iter_modules": lambda lib: list(made(lib, "Sequential").iter_modules()),
    "Module.iter_children": lambda lib: list(made(lib, "LoRALinear").iter_children()),
    "LSTMCell.initialize_carry": lambda lib: made(lib, "LSTMCell").initialize_carry(
        (1, 2), rngs(lib)
    ),
    "GRUCell.initialize_carry": lambda lib: made(lib, "GRUCell").initialize_carry(
        (1, 2), rngs(lib)
    ),
    "Average.compute": lambda lib: made(lib, "Average").compute(),
    "MultiMetric.compute": lambda lib: made(lib, "MultiMetric").compute(),
}


def _same_class(name: str) -> Callable[[Any], bool]:
    calls: dict[str, Callable[[Any], Any]] = {
        "copy": lambda each: each.copy(),
        "replace": lambda each: each.replace(jnp.ones(3)),
    }
    return lambda each: type(calls[name](each)) is type(each)


@in_both_runtimes
def test_methods_give_what_the_table_says(lib: Any) -> None:
    def check() -> Iterator[str]:
        for name, call in METHOD_CALLS.items():
            owner, _, method = name.partition(".")
            text = method_result(owner, method)
            assert text is not None, name
            if not is_of(call(lib), text):
                yield f"{name} does not give {text}"
        for method in ("copy", "replace"):
            assert method_result("Param", method) == "self"
            if not _same_class(method)(made(lib, "Param")):
                yield f"Param.{method} is of another class"

    assert found_in(check) == []


FUNCTION_CALLS: dict[str, Callable[[Any], Any]] = {
    "graphdef": lambda lib: lib.graphdef(made(lib, "Linear")),
    "flatten": lambda lib: lib.flatten(made(lib, "Linear")),
    "to_flat_state": lambda lib: lib.to_flat_state(made(lib, "State")),
    "from_flat_state": lambda lib: lib.from_flat_state(made(lib, "FlatState")),
    "to_pure_dict": lambda lib: lib.to_pure_dict(made(lib, "State")),
    "merge_state": lambda lib: lib.merge_state(made(lib, "State"), made(lib, "State")),
    "map_state": lambda lib: lib.map_state(lambda path, value: value, made(lib, "State")),
    "update": lambda lib: lib.update(made(lib, "Linear"), made(lib, "State")),
    "iter_modules": lambda lib: list(lib.iter_modules(made(lib, "Sequential"))),
    "iter_children": lambda lib: list(lib.iter_children(made(lib, "LoRALinear"))),
    "iter_module_children": lambda lib: list(lib.iter_module_children(made(lib, "LoRALinear"))),
    "iter_graph": lambda lib: list(lib.iter_graph(made(lib, "Linear"))),
    "find_duplicates": lambda lib: lib.find_duplicates(made(lib, "Linear")),
    "has_data": lambda lib: lib.has_data(made(lib, "Linear")),
    "is_data": lambda lib: lib.is_data(made(lib, "Param")),
    "relu": lambda lib: lib.relu(jnp.ones(2)),
    "make_causal_mask": lambda lib: lib.make_causal_mask(jnp.ones((1, 2))),
    "max_pool": lambda lib: lib.max_pool(jnp.ones((1, 4, 4, 1)), (2, 2)),
    "nn.initializers.zeros": lambda lib: lib.initializers.zeros(jax.random.key(0), (2,)),
    "initializers.zeros_init": lambda lib: lib.initializers.zeros_init(),
    "initializers.normal": lambda lib: lib.initializers.normal(),
    "variable_name_from_type": lambda lib: lib.variable_name_from_type(lib.Param),
    "variable_type_from_name": lambda lib: lib.variable_type_from_name("params"),
    "view_info": lambda lib: lib.view_info(made(lib, "Dropout")),
}


@in_both_runtimes
def test_functions_give_what_the_table_says(lib: Any) -> None:
    def check() -> Iterator[str]:
        for name, call in FUNCTION_CALLS.items():
            text = function_result(name)
            assert text is not None, name
            if not is_of(call(lib), text):
                yield f"{name} does not give {text}"

    assert found_in(check) == []


@pytest.mark.parametrize("runtime", ["flax.nnx", "typed_nnx"])
def test_every_public_name_has_a_place(runtime: str) -> None:
    named = {*CLASSES, *FUNCTIONS, *WITHOUT_TYPES}
    assert names(runtime, "") - named == set()


def test_types_name_classes_of_the_table() -> None:
    texts = {*FUNCTIONS.values()}
    for cls in CLASSES.values():
        texts.update(cls.attributes.values(), cls.methods.values())
        assert set(cls.bases) <= set(CLASSES)
    assert {name for text in texts for name in classes_named_in(text)} - set(CLASSES) == set()


def test_questions_about_classes_look_at_their_bases() -> None:
    assert mro("Accuracy") == ("Accuracy", "Average", "Metric", "Pytree")
    assert is_subclass("GRUCell", "Module")
    assert is_subclass("VariableState", "Variable")
    assert not is_subclass("Module", "GRUCell")
    assert mro("Mine") == ("Mine",)
    assert not is_subclass("Mine", "Module")
    assert attribute_type("LoRALinear", "kernel") == "Param"
    assert attribute_type("MultiHeadAttention", "value") == "LinearGeneral"
    assert attribute_type("Linear", "mine") is None
    assert method_result("Linear", "split") == "special"
    assert method_result("Linear", "mine") is None


def test_names_of_other_attributes_are_no_methods() -> None:
    assert attribute_type("Rngs", "mine") == "RngStream"
    assert attribute_type("Rngs", "fork") is None


@pytest.mark.parametrize(
    ("public", "name"),
    [
        ("Linear", "Linear"),
        ("nn.linear.Linear", "Linear"),
        ("training.metrics.Average", "Average"),
        ("bridge.ToNNX", "ToNNX"),
        ("bridge.Module", "bridge.Module"),
        ("bridge.module.Module", "bridge.Module"),
        ("module.Module", "Module"),
        ("relu", None),
    ],
)
def test_a_class_is_found_by_each_of_its_public_names(public: str, name: str | None) -> None:
    assert class_of(public) == name


@pytest.mark.parametrize(
    ("public", "text"),
    [
        ("split", "special"),
        ("compat.jit", "arg0"),
        ("nn.activations.relu", "array"),
        ("initializers.normal", "callable"),
        ("nn.initializers.zeros", "array"),
        ("eval_shape", "result(arg0)"),
        ("mine", None),
    ],
)
def test_a_function_is_found_by_each_of_its_public_names(public: str, text: str | None) -> None:
    assert function_result(public) == text


# -- the language of types -----------------------------------------------------------------------

WORDS = frozenset({"None", "array", "bool", "callable", "float", "int", "self", "special"})
MORE_WORDS = frozenset({"str", "unknown", "tuple", "list", "dict", "type"})


def is_of(value: object, text: str) -> bool:
    """Whether a value is of a type of the tables; classes go by the names of all their bases."""
    return any(_is_one(value, part) for part in split(text, "|"))


def _is_one(value: object, text: str) -> bool:
    name, _, inner = text.partition("[")
    items = split(inner.removesuffix("]"), ",") if inner else []
    plain: dict[str, type | tuple[type, ...]] = {
        "bool": bool,
        "float": (float, int),
        "int": int,
        "str": str,
        "None": type(None),
    }
    if name == "unknown":
        return True
    if name in plain:
        return isinstance(value, plain[name]) and (name == "bool" or not isinstance(value, bool))
    if name == "array":
        return isinstance(value, jax.Array | np.ndarray)
    if name == "callable":
        return callable(value)
    if name == "type":
        return isinstance(value, type) and items[0] in {each.__name__ for each in value.__mro__}
    if name == "dict":
        return isinstance(value, Mapping) and _all_of(value.values(), items[1])
    if name == "list":
        return isinstance(value, Iterable) and _all_of(value, items[0])
    if name == "tuple":
        return isinstance(value, tuple) and _is_tuple(value, items)
    return name in {each.__name__ for each in type(value).__mro__}


def _is_tuple(value: tuple[object, ...], items: list[str]) -> bool:
    if items[-1] == "...":
        return _all_of(value, items[0])
    return len(value) == len(items) and all(map(is_of, value, items))


def _all_of(values: Iterable[object], text: str) -> bool:
    return all(is_of(value, text) for value in values)


def split(text: str, separator: str) -> list[str]:
    """Split at the separators outside of brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character == "[") - (character == "]")
        if character == separator and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def classes_named_in(text: str) -> Iterator[str]:
    """Yield the words of a type that are no words of the language."""
    for part in split(text, "|"):
        name, _, inner = part.partition("[")
        if inner:
            for item in split(inner.removesuffix("]"), ","):
                if item != "...":
                    yield from classes_named_in(item)
        if name not in WORDS | MORE_WORDS and not name.startswith(("arg", "result(")):
            yield name
