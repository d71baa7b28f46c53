"""Properties of the overlay's text that need no checker."""

from __future__ import annotations

import ast
import random
from dataclasses import replace

import jax.numpy as jnp
import pytest
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.codegen.model_stubs.overlay_models import (
    ARRAY,
    Library,
    application,
    attribute,
    model,
    models_of,
)
from typed_nnx_codegen.model_stubs.models import (
    ClassInfo,
    Kind,
    Models,
    Named,
    Parameter,
    Static,
    Union,
    Unknown,
)
from typed_nnx_codegen.model_stubs.overlay import overlay_text
from typed_nnx_codegen.model_stubs.state_class import STATE_METHODS

LIBRARY = Library()
PARAM = LIBRARY("Param", ARRAY)


def written(models: Models) -> str:
    return overlay_text(models, runtime="typed_nnx", command="typed-nnx stubs app")


def classes(models: Models) -> dict[str, ast.ClassDef]:
    body = ast.parse(written(models)).body
    return {each.name: each for each in body if isinstance(each, ast.ClassDef)}


def fields(found: ast.ClassDef) -> dict[str, str]:
    return {
        ast.unparse(each.target): ast.unparse(each.annotation)
        for each in found.body
        if isinstance(each, ast.AnnAssign) and not ast.unparse(each.target).startswith("__")
    }


def rests(found: ast.ClassDef) -> set[str]:
    """The names in the annotation that says what further filters leave."""
    annotations = [
        each.annotation
        for each in found.body
        if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "__nnx_rest__"
    ]
    return {
        node.id for each in annotations for node in ast.walk(each) if isinstance(node, ast.Name)
    }


def methods(found: ast.ClassDef) -> dict[str, list[str]]:
    """The results of each method, of all its overloads."""
    results: dict[str, list[str]] = {}
    for each in found.body:
        if isinstance(each, ast.FunctionDef) and each.returns is not None:
            results.setdefault(each.name, []).append(ast.unparse(each.returns))
    return results


def items(found: ast.ClassDef) -> str:
    """The type of its items."""
    annotations = [
        ast.unparse(each.annotation)
        for each in found.body
        if isinstance(each, ast.AnnAssign) and ast.unparse(each.target) == "__getitem__"
    ]
    assert len(annotations) == 1
    return annotations[0]


def keys(found: ast.ClassDef) -> set[str]:
    return {
        node.value
        for node in ast.walk(ast.parse(items(found)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def test_a_filtered_state_has_the_fields_with_such_leaves_below_them_and_no_others() -> None:
    found = classes(application())
    assert fields(found["BlockState"]).keys() == {"kernel", "mean", "table"}
    assert fields(found["BlockParamState"]).keys() == {"kernel"}
    assert fields(found["BlockBatchStatState"]).keys() == {"mean"}
    assert fields(found["BlockRestOfParamState"]).keys() == {"mean", "table"}
    assert "layers" not in fields(found["MLPScaleState"])
    assert "rngs" not in fields(found["MLPParamState"])
    assert "WideCacheState" in found
    assert "MLPCacheState" not in found


def test_a_subclass_of_a_variable_class_is_in_the_part_of_its_base() -> None:
    adapter = model("app:Adapter", attribute("a", LIBRARY("LoRAParam", ARRAY)))
    found = classes(models_of(*LIBRARY.classes(), adapter))
    assert "a" in fields(found["AdapterParamState"])
    assert "a" in fields(found["AdapterLoRAParamState"])
    assert "a" not in fields(found["AdapterRestOfParamState"])


def test_a_filter_takes_its_own_class_of_what_is_declared_as_a_variable() -> None:
    layer = model("typed_nnx:LoRA", attribute("lora_a", LIBRARY("Variable", ARRAY)), path="")
    user = model("app:Model", attribute("lora", LIBRARY("LoRA")), attribute("w", PARAM))
    found = classes(models_of(*LIBRARY.classes(), layer, user))
    assert fields(found["ModelLoRAParamState"]) == {"lora": "LoRALoRAParamState"}
    assert fields(found["LoRALoRAParamState"]) == {"lora_a": "_LoRAParam[_Array]"}
    assert fields(found["LoRAParamState"]) == {"lora_a": "_Param[_Array]"}
    assert fields(found["LoRAState"]) == {"lora_a": "_Variable_[_Array]"}


def test_of_a_base_class_without_what_a_filter_takes_the_state_is_that_of_the_class_below() -> None:
    base = model("app:Base", attribute("w", PARAM))
    below = replace(
        model("app:Below", attribute("a", LIBRARY("LoRAParam", ARRAY))), bases=("app:Base",)
    )
    both = Union((Named("app:Base"), Named("app:Below")))
    found = classes(
        models_of(*LIBRARY.classes(), base, below, model("app:User", attribute("layer", both)))
    )
    assert fields(found["UserLoRAParamState"]) == {"layer": "BelowLoRAParamState"}


def test_a_model_of_which_not_all_is_known_may_have_params() -> None:
    user = model("app:User", attribute("function", Unknown("may be a Module")))
    found = classes(models_of(*LIBRARY.classes(), model("app:Other", attribute("w", PARAM)), user))
    assert fields(found["UserParamState"]) == {"function": "_Any"}


def test_a_model_that_contains_itself_through_others_ends() -> None:
    tree = model("app:Tree", attribute("branches", LIBRARY("List", Named("app:Branch"))))
    branch = model("app:Branch", attribute("tree", Named("app:Tree")), attribute("w", PARAM))
    found = classes(models_of(*LIBRARY.classes(), tree, branch))
    assert fields(found["TreeParamState"])["branches"] == "ListState[BranchParamState]"


def test_classes_with_one_name_are_told_apart_by_their_modules() -> None:
    pair = [model(f"app.{part}.net:Net", attribute("w", PARAM)) for part in ("left", "right")]
    found = classes(models_of(*LIBRARY.classes(), *pair))
    assert {"left_net_NetState", "right_net_NetState"} <= found.keys()
    assert "NetState" not in found


def test_a_class_of_the_user_keeps_its_name_beside_one_of_the_library() -> None:
    theirs = model("typed_nnx:Linear", attribute("kernel", PARAM), path="")
    ours = model("app:Linear", attribute("inner", Named("typed_nnx:Linear")))
    found = classes(models_of(*LIBRARY.classes(), theirs, ours))
    assert fields(found["LinearState"])["inner"] == "typed_nnx_LinearState"


@pytest.mark.parametrize("name", ["List", "Dict", "MLPParam", "Hooks", "State", "Any", "S0"])
def test_a_model_may_have_any_name(name: str) -> None:
    odd = model(f"app:{name}", attribute("w", PARAM))
    mlp = model("app:MLP", attribute("w", PARAM), attribute("odd", Named(f"app:{name}")))
    text = written(models_of(*LIBRARY.classes(), mlp, odd))
    body = [each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)]
    names = [each.name for each in body]
    assert len(names) == len(set(names))


def test_a_new_model_changes_no_name_and_no_class_of_the_others() -> None:
    one = model("app:One", attribute("w", PARAM))
    two = model("app:Two", attribute("w", PARAM))
    before = classes(models_of(*LIBRARY.classes(), two))
    after = classes(models_of(*LIBRARY.classes(), one, two))
    for name in ("TwoState", "TwoParamState"):
        assert ast.unparse(before[name]) == ast.unparse(after[name])


def test_names_that_are_no_attributes_of_a_state_are_keys_only() -> None:
    names = ["filter", "items", "class", "0", 'a "quoted" name', "_Param", "fine"]
    odd = model("app:Odd", *(attribute(name, PARAM) for name in names))
    found = classes(models_of(*LIBRARY.classes(), odd))
    assert fields(found["OddState"]).keys() == {"fine"}
    assert keys(found["OddState"]) == set(names)


def test_an_attribute_called_like_a_builtin_or_an_import_does_not_hide_it() -> None:
    names = ["property", "type", "str", "int", "jax", "Any", "Param", "tuple"]
    odd = model("app:Odd", *(attribute(name, PARAM) for name in names))
    found = classes(models_of(*LIBRARY.classes(), odd))
    assert {fields(found["OddState"])[name] for name in names} == {"_Param[_Array]"}


def test_what_could_not_be_typed_is_any_and_says_why() -> None:
    odd = model("app:Odd", attribute("x", Unknown("made by\n  eval")), attribute("w", PARAM))
    lines = written(models_of(*LIBRARY.classes(), odd)).splitlines()
    assert "    x: _Any  # Any: made by eval" in lines


def test_a_model_with_attributes_by_computed_names_leaves_its_states_open() -> None:
    odd = model("app:Odd", attribute("w", PARAM), is_open=True)
    net = model("app:Net", attribute("odd", Named("app:Odd")), attribute("w", PARAM))
    found = classes(models_of(*LIBRARY.classes(), odd, net))
    for name in ("OddState", "OddParamState", "OddRestOfParamState"):
        assert methods(found[name])["__getattr__"] == ["_Any"]
    assert items(found["OddState"]).startswith("_OpenItems1[")
    assert "NoSuchField" not in methods(found["_OpenItems1"])["__call__"]
    assert "__getattr__" not in methods(found["NetState"])
    assert fields(found["NetRestOfParamState"]) == {"odd": "OddRestOfParamState"}


def test_what_two_filters_leave_has_a_class_where_no_other_has_its_fields() -> None:
    stat, cache = LIBRARY("BatchStat", ARRAY), LIBRARY("Cache", ARRAY)
    three = [attribute("w", PARAM), attribute("m", stat), attribute("c", cache)]
    plain, mixed = model("app:Plain", *three), model("app:Mixed", *three, attribute("a", ARRAY))
    found = classes(models_of(*LIBRARY.classes(), plain, mixed))
    assert fields(found["MixedRestOfBatchStatAndParamState"]) == {
        "c": "_Cache[_Array]",
        "a": "_Array",
    }
    answers = rests(found["MixedRestOfParamState"])
    assert "MixedRestOfBatchStatAndParamState" in answers
    assert "PlainRestOfBatchStatAndParamState" not in found
    assert "PlainCacheState" in rests(found["PlainRestOfParamState"])


@pytest.mark.parametrize("runtime", ["typed_nnx", "flax.nnx"])
def test_a_generic_model_has_the_parts_of_the_kinds_that_its_uses_bring(runtime: str) -> None:
    library = Library(runtime)
    kinds = [
        ClassInfo(f"app:{name}", Kind.VARIABLE, bases=(f"{runtime}:Variable",), path="app.py")
        for name in ("Seen", "Unseen")
    ]
    box = model("app:Box", attribute("inner", Parameter("T")), parameters=("T",))
    net = model(
        "app:Net",
        attribute("box", Named("app:Box", (Named("app:Seen"),))),
        attribute("unseen", Named("app:Unseen")),
        attribute("w", library("Param", ARRAY)),
    )
    models = models_of(*library.classes(), *kinds, box, net)
    text = overlay_text(models, runtime=runtime, command="typed-nnx stubs app")
    found = {each.name: each for each in ast.parse(text).body if isinstance(each, ast.ClassDef)}
    assert fields(found["NetSeenState"])["box"].startswith("BoxSeenState[")
    assert "BoxParamState" in found
    assert "BoxUnseenState" not in found


def test_a_field_is_documented_by_where_it_is_from() -> None:
    text = written(models_of(*LIBRARY.classes(), model("app.net:Net", attribute("w", PARAM))))
    # In the whole State and in the Params.
    assert text.count('    w: _Param[_Array]\n    """`Net.w`"""\n') == 2


def test_of_two_models_with_other_fields_no_field_is_denied() -> None:
    models = [
        *LIBRARY.classes(),
        model("app:One", attribute("x", PARAM)),
        model("app:Other", attribute("x", PARAM), attribute("y", LIBRARY("BatchStat", ARRAY))),
        model("app:Top", attribute("layer", Union((Named("app:One"), Named("app:Other"))))),
    ]
    found = classes(models_of(*models))
    assert fields(found["TopState"]) == {"layer": "_State[_Any, _Any, _One | _Other, _Any]"}
    assert fields(found["TopParamState"]) == {"layer": "OneParamState | OtherParamState"}
    assert fields(found["TopBatchStatState"]) == {"layer": "OtherBatchStatState"}


def test_static_attributes_have_no_field() -> None:
    odd = model("app:Odd", attribute("width", Static()), attribute("w", PARAM))
    assert "width" not in fields(classes(models_of(*LIBRARY.classes(), odd))["OddState"])


def test_a_base_class_of_all_models_gets_no_state_class() -> None:
    odd = model("app:Odd", attribute("any", LIBRARY("Module")), bases=("typed_nnx:Module",))
    found = classes(models_of(*LIBRARY.classes(), odd))
    assert "ModuleState" not in found
    assert fields(found["OddState"])["any"] == "_State[_Any, _Any, _Module, _Any]"


def test_what_is_declared_as_a_module_does_not_get_the_filters_of_all_other_models() -> None:
    other = model(
        "app:Other",
        attribute("scale", PARAM),
        attribute("mean", LIBRARY("BatchStat", ARRAY)),
        bases=("typed_nnx:Module",),
    )
    holder = model(
        "app:Holder",
        attribute("inner", LIBRARY("Module")),
        attribute("seen", LIBRARY("Cache", ARRAY)),
        bases=("typed_nnx:Module",),
    )
    found = classes(models_of(*LIBRARY.classes(), other, holder))
    assert fields(found["HolderCacheState"]).keys() == {"inner", "seen"}
    assert fields(found["HolderParamState"]).keys() == {"inner"}
    assert "HolderBatchStatState" not in found


def test_an_attribute_of_an_empty_base_class_may_hold_a_subclass() -> None:
    layer, dense = (
        model("app:Layer"),
        model("app:Dense", attribute("w", PARAM), bases=("app:Layer",)),
    )
    net = model("app:Net", attribute("layer", Named("app:Layer")))
    found = classes(models_of(*LIBRARY.classes(), layer, dense, net))
    assert fields(found["NetParamState"])["layer"] == "LayerParamState"


def test_the_order_of_reading_changes_nothing() -> None:
    models = application()
    names = list(models.classes)
    random.Random(0).shuffle(names)
    shuffled = Models({name: models.classes[name] for name in names}, models.roots[::-1])
    assert written(shuffled) == written(models)


def test_a_variable_class_of_the_user_has_a_part_of_its_own() -> None:
    stats = ClassInfo("app:Stats", Kind.VARIABLE, ("A",), ("typed_nnx:Variable",), path="app.py")
    net = model("app:Net", attribute("s", Named("app:Stats", (ARRAY,))), attribute("w", PARAM))
    found = classes(models_of(*LIBRARY.classes(), stats, net))
    assert fields(found["NetStatsState"])["s"] == "_Stats[_Array]"
    assert "w" not in fields(found["NetStatsState"])


@pytest.mark.parametrize("state", [nnx.State, flax_nnx.State], ids=["typed_nnx", "flax"])
def test_the_methods_of_states_are_known(state: type) -> None:
    made = state({"w": jnp.ones(2)})
    public = {name for name in dir(made) if not name.startswith("_")}
    assert public - {"w"} == STATE_METHODS


def test_a_filter_that_no_model_has_is_not_answered_as_the_one_it_derives_from() -> None:
    net = model("app:Net", attribute("w", PARAM))
    hooks = classes(models_of(*LIBRARY.classes(), net))["Hooks"]
    parts = [
        ast.unparse(each.args.posonlyargs[1].annotation or each)
        for each in hooks.body
        if isinstance(each, ast.FunctionDef) and each.name == "__nnx_part__"
    ]
    first = next(place for place, taken in enumerate(parts) if "LoRAParam" in taken)
    assert first < parts.index("_Type[_Param[_Any]]")
