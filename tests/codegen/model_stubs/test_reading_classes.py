"""Inheritance, generics, dataclasses, imports and names, over several modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.codegen.model_stubs.reading_project import attributes
from typed_nnx_codegen.model_stubs.models import Kind, Named, Parameter

if TYPE_CHECKING:
    from tests.codegen.model_stubs.reading_project import Project
    from typed_nnx_codegen.model_stubs.models import Models

FILES = {
    "app/__init__.py": "from app.models import *\nfrom app.models import Base as PublicBase",
    "app/models.py": """
        from typing import Generic, TypeVar
        import jax
        import typed_nnx as nnx
        from typed_nnx import Module as Mod

        M = TypeVar("M", bound=nnx.Module)
        N = TypeVar("N")

        class Gate(Mod):
            pass
        class Base(nnx.Module):
            declared: nnx.Module
            def __init__(self):
                self.first = Gate()
                self.second = Gate()
                self.third = Gate()
                self.declared = Gate()
        class Mixin:
            def add(self): self.mixed = Gate()
        class Box(nnx.Module, Generic[M]):
            def __init__(self, inner: M):
                self.inner = inner
                self.all = nnx.List([inner])
        class Pair(Box[M], Generic[N, M]):
            other: N
        class Flat(nnx.List[Gate]):
            pass
        class Outer(nnx.Module):
            class Inner(nnx.Module):
                def __init__(self): self.gate = Gate()
            def __init__(self): self.inner = Outer.Inner()
        class Scale(nnx.Param[jax.Array]): pass
        class Own(nnx.Variable): pass
        def local():
            class Local(nnx.Module): pass
            return Local()
        class Tree(nnx.Module):
            def __init__(self, left: "Tree | None"):
                self.left = left
                self.local = local()
    """,
    "app/more.py": """
        from __future__ import annotations
        from typing import TYPE_CHECKING
        import app
        from . import models as m
        from app import *
        if TYPE_CHECKING:
            from app.models import Gate as Door

        class Other(app.Base): ...
        class Child(PublicBase, m.Mixin):
            def __init__(self, wide: bool):
                super().__init__()
                self.second = m.Flat()
                if wide:
                    self.third = None
                self.declared = m.Flat()
                self.own = Door()
        class Filled(m.Box[Gate]): ...
        class Half(m.Pair[int, m.M]): ...
        class Uses(nnx.Module):
            def __init__(self, door: Door, box: m.Box):
                self.box = m.Box(Gate())
                self.pair = m.Pair(Gate())
                self.filled = Filled(Gate())
                self.door = door
                self.vague = box
                self.flat = m.Flat()
        class Layer(nnx.Linear):
            def __init__(self, rngs):
                super().__init__(2, 2, rngs=rngs)
                self.more = Gate()
    """,
    "app/data.py": """
        import dataclasses
        import typed_nnx as nnx
        from app.models import Gate
        from typing import ClassVar, Any

        @nnx.dataclass
        class Fields(nnx.Module):
            gate: Gate
            size: int = 3
            held: list[Gate] = nnx.data(default_factory=list)
            kept: Any = nnx.static(default=None)
            plain: list[Gate] = dataclasses.field(default_factory=list)
            given: nnx.Data[dict[str, Gate]] = nnx.data()
            shared: ClassVar[Gate]
            start: dataclasses.InitVar[Gate]
            def __post_init__(self, start): self.late = start
        @dataclasses.dataclass
        class More(Fields):
            extra: Gate | None = None
        class Free(nnx.Object):
            def __init__(self):
                self.gates = [Gate()]
                self.numbers = [1]
        class Sows(nnx.Module):
            def __call__(self, x, name): self.sow(nnx.Intermediate, name, x)
        class SowsByName(Gate):
            def __call__(self, x): self.sow(nnx.Intermediate, "x", self.perturb("y", x))
        class Sets(Gate):
            def __init__(self):
                for i in range(3): setattr(self, f"x{i}", Gate())
        class Child(Sets): pass
        class AlsoFree(nnx.Module, pytree=False):
            def __init__(self): self.gates = {"a": Gate()}
        class Grows(nnx.List[Gate]):
            def __init__(self):
                super().__init__()
                self.gate = Gate()
    """,
}


@pytest.fixture(scope="module")
def cell() -> list[Models]:
    return []


@pytest.fixture
def models(project: Project, cell: list[Models]) -> Models:
    if not cell:
        project.write(FILES)
        cell.append(project.read("app"))
    assert not cell[0].problems
    return cell[0]


def test_the_roots_are_the_model_classes_in_the_order_of_files_and_lines(models: Models) -> None:
    at_models = ["Gate", "Base", "Box", "Pair", "Outer", "Outer.Inner", "Tree"]
    found = [root for root in models.roots if root.startswith("app.models:")]
    assert found == [f"app.models:{name}" for name in at_models]
    assert not [root for root in models.roots if root.startswith("app:")]


def test_a_class_says_where_it_is(models: Models) -> None:
    child = models.classes["app.more:Child"]
    assert (child.path, child.order) == ("app/more.py", 1)


def test_a_subclass_has_the_attributes_of_its_bases(models: Models) -> None:
    assert attributes(models.classes["app.more:Other"]) == {
        "declared": "Module",
        "first": "Gate",
        "second": "Gate",
        "third": "Gate",
    }


def test_what_a_subclass_assigns_counts_more_than_what_its_base_assigned(models: Models) -> None:
    assert attributes(models.classes["app.more:Child"]) == {
        "mixed": "Gate",
        "declared": "Module",
        "first": "Gate",
        "second": "List[Gate]",
        "third": "Gate | None",
        "own": "Gate",
    }


def test_the_bases_are_those_that_are_models(models: Models) -> None:
    child = models.classes["app.more:Child"]
    assert child.bases == ("app.models:Base", "typed_nnx:Module", "typed_nnx:Pytree")
    assert set(child.bases) <= set(models.classes)


def test_filters_that_derive_from_others_are_known_though_no_model_has_such_leaves(
    models: Models,
) -> None:
    library = {name for name in models.classes if name.startswith("typed_nnx:")}
    assert {f"typed_nnx:{name}" for name in ("LoRAParam", "Perturbation", "RngKey")} <= library
    assert "typed_nnx:Cache" not in library


def test_type_parameters_stay_and_arguments_are_put_in(models: Models) -> None:
    box = models.classes["app.models:Box"]
    assert box.parameters == ("M",)
    assert box.attributes["inner"] == Parameter("M")
    assert attributes(box) == {"inner": "M", "all": "List[M]"}
    pair = models.classes["app.models:Pair"]
    assert pair.parameters == ("N", "M")
    assert attributes(pair) == {"inner": "M", "all": "List[M]", "other": "N"}
    assert attributes(models.classes["app.more:Filled"]) == {"inner": "Gate", "all": "List[Gate]"}
    assert attributes(models.classes["app.more:Half"]) == {
        "inner": "M",
        "all": "List[M]",
        "other": "static",
    }


def test_arguments_of_generic_models_are_inferred(models: Models) -> None:
    assert attributes(models.classes["app.more:Uses"]) == {
        "box": "Box[Gate]",
        "pair": "Pair[?, Gate]",
        "filled": "Filled",
        "door": "Gate",
        "vague": "Box[?]",
        "flat": "List[Gate]",
    }


def test_a_subclass_of_a_layer_has_its_attributes(models: Models) -> None:
    found = attributes(models.classes["app.more:Layer"])
    assert found["kernel"] == "Param[Array]"
    assert found["bias"] == "Param[Array] | None"
    assert found["use_bias"] == "static"
    assert found["more"] == "Gate"


def test_a_class_in_a_class_has_a_name_and_one_in_a_function_has_none(models: Models) -> None:
    inner = Named("app.models:Outer.Inner")
    assert [*models.classes["app.models:Outer"].attributes.values()] == [inner]
    assert attributes(models.classes["app.models:Outer.Inner"]) == {"gate": "Gate"}
    assert attributes(models.classes["app.models:Tree"]) == {"left": "Tree | None", "local": "?"}


def test_fields_of_dataclasses_are_attributes(models: Models) -> None:
    fields = {
        "gate": "Gate",
        "size": "static",
        "held": "list[Gate]",
        "kept": "static",
        "plain": "list[Gate]",
        "given": "dict[Gate]",
        "late": "?",
    }
    assert attributes(models.classes["app.data:Fields"]) == fields
    assert attributes(models.classes["app.data:More"]) == fields | {"extra": "Gate | None"}


def test_plain_containers_of_objects_that_are_no_pytrees_are_data(models: Models) -> None:
    assert attributes(models.classes["app.data:Free"]) == {
        "gates": "list[Gate]",
        "numbers": "static",
    }
    assert attributes(models.classes["app.data:AlsoFree"]) == {"gates": "dict[Gate]"}


def test_a_class_is_open_if_no_source_names_all_its_attributes(models: Models) -> None:
    found = {name for name, info in models.classes.items() if info.is_open}
    assert found == {f"app.data:{name}" for name in ("Sows", "Sets", "Child")}


def test_a_list_with_attributes_of_its_own_is_a_model(models: Models) -> None:
    assert models.classes["app.data:Grows"].kind is Kind.PYTREE
    assert attributes(models.classes["app.data:Grows"]) == {"gate": "Gate"}
    assert "app.models:Flat" not in models.classes


def test_types_of_variables_are_there_with_their_bases(models: Models) -> None:
    scale = models.classes["app.models:Scale"]
    assert scale.kind is Kind.VARIABLE
    assert scale.bases == ("typed_nnx:Param", "typed_nnx:Variable")
    assert models.classes["app.models:Own"].bases == ("typed_nnx:Variable",)
    assert models.classes["typed_nnx:Param"].parameters == ("A",)


def test_the_closure_of_layers_is_there(models: Models) -> None:
    for info in list(models.classes.values()):
        for each in info.attributes.values():
            if isinstance(each, Named):
                assert each.name in models.classes
    assert models.classes["jax:Array"].kind is Kind.ARRAY
    assert models.classes["typed_nnx:List"].kind is Kind.LIST
