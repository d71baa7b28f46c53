"""What goes wrong with Variables, Pytrees, random streams, filters, States and object graphs."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx as flax_nnx

import typed_nnx as nnx
from tests.errors.case import Bag, Cases, assign, delete
from typed_nnx import errors


class Nameless(nnx.Variable[jax.Array]):
    """A Variable type that is never registered."""


def tagged() -> nnx.Param[jax.Array]:
    """Return a Variable with one item of metadata."""
    return nnx.Param(jnp.ones(2), tag="a")


class LateLayers(nnx.Pytree):
    """Puts a Variable into a static list, which only a check after ``__init__`` can find."""

    def __init__(self) -> None:
        self.layers: list[Any] = []
        self.layers.append(nnx.Param(jnp.ones(2)))


class Counter(nnx.Pytree):
    """Has an attribute that its class declares to be static."""

    count: nnx.Static[Any]

    def __init__(self, count: Any) -> None:
        self.count = count


def write_inside_jit() -> None:
    """Assign an attribute of a captured Module inside jax.jit."""
    model = Bag(layer=Bag(rate=0.5))
    jax.jit(lambda: assign(model.layer, "rate", 0.1))()


ARRAY_TYPE = type(jnp.ones(2))
REMEDIES = (
    "2. Wrap the value with nnx.data on assignment:",
    "3. Annotate the class attribute with nnx.Data:",
    "4. If the container is a list or dict, try using nnx.List(...) or nnx.Dict(...) instead.",
    "5. Disable pytree for this class:",
)


def split_streams() -> nnx.Rngs:
    """Return streams that hold three keys each."""
    return nnx.Rngs(0).split(3)


WRONG_SHAPE: Any = "x"


def network() -> Bag:
    """Return a model with a Param and, deeper, a BatchStat."""
    return Bag(w=nnx.Param(jnp.ones((2, 3))), norm=Bag(mean=nnx.BatchStat(jnp.zeros(3))))


def network_state(**more: Any) -> nnx.State:
    """Return the State of a model of that structure, with other entries."""
    return nnx.State({"w": nnx.Param(1), "norm": {"mean": nnx.BatchStat(1)}, **more})


def merge(*states: Any) -> object:
    """Merge States with the structure of the network."""
    return nnx.merge(nnx.graphdef(network()), *states)


WRONG_FILTER: Any = 3.5
LISTED = "\n    "


def tied() -> Bag:
    """Return a model that holds one Variable at two places."""
    shared = nnx.Param(jnp.ones(2))
    return Bag(encoder=shared, decoder=shared)


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    items: list[Any] = [nnx.Param(jnp.ones(2))]
    items.append(items)
    return items


def change_behind_the_back() -> None:
    """Replace a Variable without `__setattr__` while the debug mode is on."""
    model = Bag(w=nnx.Param(jnp.ones(2)))
    with nnx.set_verify_records(True):
        nnx.split(model)
        vars(model)["w"] = nnx.Param(jnp.zeros(2))
        nnx.split(model)


def merge_on_neither_side() -> None:
    """Enter a merge context without saying on which side of the transform it is."""
    with nnx.update_context("step"), nnx.merge_context("step"):
        raise AssertionError("not reached")


def to_tree_under_two_prefixes(shared: object) -> None:
    """Pass one object twice, with different prefixes."""
    nnx.to_tree((shared, shared), prefix=(0, 1))


REFERENCE: Any = jax.new_ref(jnp.ones(2))

CASES: Cases = {
    errors.VariableError: {
        "a reference as the value of a new Variable": (
            lambda: nnx.Param(jax.new_ref(jnp.ones(2))),
            ("Param: ", "the value is an array reference", "expected an array"),
            "Param(array, ref=True)",
        ),
        "a copy from another type": (
            lambda: tagged().copy_from(nnx.BatchStat(jnp.ones(2))),
            ("copy_from: ", "expected a Param", "got a BatchStat"),
            "variable[...] = other[...]",
        ),
        "metadata set that says how the value is stored": (
            lambda: tagged().set_metadata(ref=True),
            ("Param: ", "metadata 'ref'", "cannot be changed or deleted"),
            "nnx.with_vars(node, ref=True)",
        ),
        "metadata deleted that says how the value is stored": (
            lambda: tagged().del_metadata("hijax"),
            ("Param: ", "metadata 'hijax'", "cannot be changed or deleted"),
            "nnx.with_vars(node, hijax=True)",
        ),
        "a name that no type has": (
            lambda: nnx.variable_type_from_name("nobody"),
            ("Variable names: ", "no Variable type has the name 'nobody'"),
            "nnx.register_variable_name('nobody', YourVariable)",
        ),
        "a type without a name": (
            lambda: nnx.variable_name_from_type(Nameless),
            ("Variable names: ", "the Variable type Nameless has no registered name"),
            "allow_register=True",
        ),
        "a name that another type has": (
            lambda: nnx.register_variable_name("params", Nameless),
            ("Variable names: ", "the name 'params' already belongs to Param"),
            "overwrite=True",
        ),
        "a value sown over a number": (
            lambda: Bag(w=1).sow(nnx.Intermediate, "w", 1),
            ("sow: Expected 'w' to be a Variable", "got 'int'"),
            "record the value under another name",
        ),
        "a value sown over another type": (
            lambda: Bag(w=nnx.Param(1)).sow(nnx.Intermediate, "w", 1),
            ("sow: Expected 'w' to be of type 'Intermediate'", "got 'Param'"),
            "record the value under another name",
        ),
        "a perturbation over another type": (
            lambda: Bag(w=nnx.Param(1)).perturb("w", jnp.ones(2)),
            ("perturb: Expected 'w' to be of type 'Perturbation'", "got 'Param'"),
            "record the value under another name",
        ),
    },
    errors.VariableAttributeError: {
        "metadata that is not there": (
            lambda: tagged().get_metadata("axis"),
            ("Param: ", "cannot read 'axis'", "there is tag, hijax, ref, eager_sharding"),
            "variable.get_metadata('axis', default)",
        ),
        "metadata to delete that is not there": (
            lambda: tagged().del_metadata("axis"),
            ("Param: ", "cannot delete 'axis'", "there is tag, hijax, ref, eager_sharding"),
            "variable.set_metadata(axis=value)",
        ),
        "metadata set as an attribute": (
            lambda: assign(tagged(), "tag", "b"),
            ("Param: ", "cannot set 'tag'", "not set by attribute"),
            "variable.set_metadata(tag=value)",
        ),
        "metadata deleted as an attribute": (
            lambda: delete(tagged(), "tag"),
            ("Param: ", "cannot delete attribute 'tag'", "not deleted by attribute"),
            "variable.del_metadata('tag')",
        ),
    },
    errors.MeshRequiredError: {
        "sharding without a mesh": (
            lambda: nnx.Param(jnp.ones((2, 2)), out_sharding=("data", "model")),
            (
                "Variable: ",
                "no mesh for out_sharding=",
                "'data', 'model'",
                "expected a current mesh",
            ),
            "`with jax.set_mesh(mesh):` around the construction of the Variable",
        )
    },
    errors.UnhashableError: {
        "metadata without a hash where one is needed": (
            lambda: hash(nnx.graphdef(Bag(w=nnx.Param(jnp.ones(2), names=["x"])))),
            ("Variable metadata: ", "'names' (list) has no hash", "a hash is needed here"),
            "variable.set_metadata(names=tuple(...))",
        ),
        "a static value without a hash where one is needed": (
            lambda: hash(nnx.graphdef(Bag(sizes=bytearray(b"a")))),
            (
                "unhashable type: 'bytearray'",
                "static attribute 'sizes' of Bag",
                "b'a'",
                "hash is needed",
            ),
            "_.sizes = ...",
        ),
    },
    errors.ForeignModuleError: {
        "a Module of flax.nnx in an attribute": (
            lambda: Bag(layer=nnx.data([flax_nnx.Linear(2, 2, rngs=flax_nnx.Rngs(0))])),
            ("Bag.layer", "holds, a Linear of flax.nnx", "would leave it out"),
            "call nnx.install_as_flax_nnx() before importing it",
        )
    },
    errors.TraceLevelError: {
        "an attribute written under another trace": (
            write_inside_jit,
            (
                "Cannot mutate 'Bag' from different trace level",
                "attribute 'rate' of the Bag at Bag.layer",
            ),
            "pass the object as an argument",
        )
    },
    errors.PytreeAttributeError: {
        "an array annotated as static": (
            lambda: Bag(scale=nnx.static(jnp.ones(2))),
            (f"Found data in value of type '{ARRAY_TYPE}'", "nnx.static(...)", "'scale'", "Bag"),
            "_.scale = nnx.data(...)",
        ),
        "an array assigned to a static attribute": (
            lambda: assign(Bag(name="a"), "name", jnp.ones(2)),
            (f"Cannot assign data value of type '{ARRAY_TYPE}'", "static attribute 'name'", "Bag"),
            None,
        ),
        "a list of arrays assigned to an attribute": (
            lambda: Bag(layers=[jnp.ones(2)]),
            (
                "Found data on value of type '<class 'list'>' assigned to static attribute 'layers'",
                "Bag",
                "1. If the attribute is meant to be static, remove the data values of type(s): "
                f"{ARRAY_TYPE.__name__}",
                *REMEDIES[:2],
                "class Bag(Module):\n    layers: nnx.Data[list]",
                *REMEDIES[2:],
                "class Bag(Pytree, pytree=False):",
            ),
            None,
        ),
        "an array in a static list after __init__": (
            LateLayers,
            (
                "Found unexpected data on value of type <class 'list'> in static attribute 'layers'",
                "LateLayers",
                "1. If the attribute is meant to be static, either remove the data value or wrap it in "
                "a static container.",
                REMEDIES[0],
                "_.layers = nnx.data(...)",
                REMEDIES[1],
                "class LateLayers(Pytree):\n    layers: nnx.Data[list]",
                *REMEDIES[2:],
                "class LateLayers(Pytree, pytree=False):",
            ),
            None,
        ),
        "an array in an attribute that the class declares static": (
            lambda: Counter(jnp.ones(2)),
            (f"unexpected data on value of type {ARRAY_TYPE}", "'count'", "Counter", *REMEDIES),
            None,
        ),
        "an annotation inside a container": (
            lambda: Bag(layers=[nnx.data(1), 2]),
            (
                "Found unexpected tags {'data'} on attribute 'Bag.layers'",
                "should be assigned to nnx.Pytree attributes directly",
                "Got value of type '<class 'list'>'",
            ),
            "_.layers = nnx.data(...)",
        ),
    },
    errors.AttributesNotFoundError: {
        "an attribute to set that no Module has": (
            lambda: Bag(rate=0.5).set_attributes(rat=0.1),
            (
                "set_attributes: ",
                "at least one instance of the following attributes: ['rat']",
                "Bag",
            ),
            "correct the names or the filters",
        ),
        "an attribute to replace that no Module has": (
            lambda: nnx.with_attributes(Bag(rate=0.5), rat=0.1),
            (
                "with_attributes: ",
                "at least one instance of the following attributes: ['rat']",
                "Bag",
            ),
            "correct the names or the filters",
        ),
        "an argument of view that no Module takes": (
            lambda: nnx.view(Bag(rate=0.5), rat=0.1),
            ("Unused keys found in nnx.view: ['rat']", "Bag"),
            "pass raise_if_not_found=False",
        ),
    },
    errors.StreamNotFoundError: {
        "a stream that is not there": (
            lambda: nnx.Rngs(params=0).dropout(),
            ("Rngs: ", "No RngStream named 'dropout'", "no stream 'default'", "has 'params'"),
            "`nnx.Rngs(..., dropout=1)`",
        ),
        "an item that is not there": (
            lambda: nnx.Rngs(params=0)["dropout"],
            ("Rngs: ", "No RngStream named 'dropout'", "no stream 'default'", "has 'params'"),
            "`nnx.Rngs(..., dropout=1)`",
        ),
    },
    errors.ArgumentError: {
        "a text as the seed": (
            lambda: nnx.Rngs(params=WRONG_SHAPE),
            ("Rngs: ", "stream 'params' got 'x' (str)", "expected an int, a key"),
            "`jax.random.key(seed)`",
        ),
        "two rules for one stream": (
            lambda: nnx.with_rngs(
                nnx.Rngs(0, a=1), split={"a": 2}, broadcast={...: 3}, fork=["b", "a"]
            ),
            ("RngStream at path ('a',) matches multiple rules", "split: 'a'", "fork: 'a'"),
            "let one of `split`, `broadcast` and `fork` match it",
        ),
        "a policy that reseed does not know": (
            lambda: nnx.reseed(nnx.Rngs(0), policy=WRONG_SHAPE, default=1),
            ("reseed: ", "argument `policy` is 'x'", "expected 'scalars_only', 'match_shape'"),
            "reseed(node, policy='match_shape', ...)",
        ),
        "a stream of many keys to reseed with one": (
            lambda: nnx.reseed({"layers": split_streams()}, default=1),
            ("reseed: ", "at path ('layers', 'default')", "shape (3,)", "expects single keys"),
            "reseed(node, policy='match_shape', ...)",
        ),
        "the ellipsis before another filter": (
            lambda: nnx.split(network(), ..., nnx.Param),
            ("`...` or `True` can only be used as the last filters", "got `...` at index 0"),
            "move it to the end of the filters",
        ),
        "pop without a filter": (
            lambda: nnx.pop(network()),  # type: ignore[call-overload]  # as tested
            ("pop: ", "Expected at least one filter"),
            "nnx.pop(model, nnx.Intermediate)",
        ),
    },
    errors.KeyShapeError: {
        "one key of a stream that holds many": (
            lambda: split_streams().default(),
            ("RngStream 'default': ", "keys of shape (3,)", "expected a single key of shape ()"),
            "draw inside `nnx.vmap` over the streams",
        )
    },
    errors.ArgumentTypeError: {
        "a text as the shape of a split": (
            lambda: nnx.Rngs(0).split(WRONG_SHAPE),
            ("split: ", "is 'x' (str)", "expected an int, a tuple of ints, or a mapping"),
            "=2` for every stream",
        )
    },
    errors.InvalidFilterError: {
        "a number as a filter": (
            lambda: nnx.split(network(), WRONG_FILTER),
            ("filter: ", "got 3.5 (float)", "expected a type, a string tag"),
            "nnx.split(model, nnx.Param, ...)",
        ),
        "a number as a filter, as a TypeError": (
            lambda: nnx.to_predicate(WRONG_FILTER),
            ("filter: ", "got 3.5 (float)", "expected a type, a string tag"),
            "nnx.split(model, nnx.Param, ...)",
        ),
    },
    errors.NoFilterMatchedError: {
        "a leaf that no filter matches": (
            lambda: nnx.split(network(), nnx.Param),
            ("split: ", "No filter matched", "('norm', 'mean')", "(BatchStat, float32[3])"),
            'add a filter that matches it, or `...` as the last filter for "everything else".',
        ),
        "several leaves that no filter matches": (
            lambda: nnx.state(network()).split(nnx.RngState, nnx.Cache),
            (
                "State.split: ",
                "No filter matched",
                "('norm', 'mean')",
                "float32[3]",
                "(and 1 more)",
            ),
            "add a filter that matches it",
        ),
    },
    errors.StateMismatchError: {
        "a merge with missing leaves": (
            lambda: merge(nnx.state(network(), nnx.Param)),
            ("merge: ", f"missing, expected at:{LISTED}('norm', 'mean')"),
            "pass every State that `split` returned",
        ),
        "a merge with leaves too many": (
            lambda: merge(network_state(head={"b": nnx.Param(1)}, tail=nnx.Param(2))),
            ("merge: ", f"extra, not in the GraphDef:{LISTED}('head', 'b'){LISTED}('tail',)"),
            "pass every State that `split` returned",
        ),
        "a merge with a leaf of another type": (
            lambda: merge(network_state(norm={"mean": nnx.Cache(jnp.zeros(3))})),
            ("merge: ", "wrong type at ('norm', 'mean')", "expected BatchStat", "got Cache"),
            "pass every State that `split` returned",
        ),
        "an update of a node with a Variable": (
            lambda: nnx.update(network(), nnx.State({"norm": nnx.Param(1)})),
            ("update: ", "at path ('norm',)", "there is a node (Bag)", "got Param"),
            "update with a State of a model of the same structure",
        ),
    },
    errors.GraphError: {
        "a State after a GraphState": (
            lambda: nnx.merge(nnx.unpack(network()), nnx.state(network())),
            ("merge: Expected GraphState object, got State at position 1",),
            "pass the GraphStates that one `unpack` returned",
        ),
        "GraphStates of two models": (
            lambda: nnx.merge(nnx.unpack(network()), nnx.unpack(Bag(w=nnx.Param(1)))),
            ("merge: GraphDef must be the same, got another structure at position 1",),
            "nnx.merge(graphdef, *states)",
        ),
        "pop of an element of a list": (
            lambda: nnx.pop(Bag(items=nnx.data([nnx.Param(1)])), nnx.Param),
            ("pop: ", "at path ('items', 0)", "immutable node of type list"),
            "keep it in an nnx.List",
        ),
        "update of an element of a tuple": (
            lambda: nnx.update((jnp.ones(2),), nnx.State({0: jnp.zeros(2)})),
            ("update: ", "at path (0,)", "immutable node of type tuple"),
            "keep it in an nnx.List",
        ),
        "references for a Variable that is shared": (
            lambda: nnx.to_refs(tied()),
            ("Param: Found duplicate at paths:", "decoder\n  encoder\n"),
            "copy the array for one of the paths",
        ),
        "arrays for a reference that is shared": (
            lambda: nnx.to_arrays([REFERENCE, {"a": REFERENCE}]),
            ("Found duplicate at paths:", "  0\n  1/a\n"),
            "pass allow_duplicates=True",
        ),
        "a list that holds itself": (
            lambda: nnx.split(cyclic()),
            ("traversal: ", "the list at path", "contains itself"),
            "make the outer one an nnx.List or nnx.Dict",
        ),
        "duplicates in a list that holds itself": (
            lambda: nnx.find_duplicates({"a": cyclic()}),
            ("traversal: ", "the list at path ('a', 1)", "contains itself"),
            "make the outer one an nnx.List or nnx.Dict",
        ),
        "a class that is no pytree where a tree is asserted": (
            lambda: nnx.jit(lambda model: 0, graph=False)(nnx.Dict(inner=nnx.Object())),
            ("jit of ", "tree mode", "Object", "pytree=False. Found at path: model.inner"),
            "declare Object without pytree=False, or nnx.jit(..., graph=True)",
        ),
        "an update context that is not there": (
            lambda: nnx.current_update_context("step"),
            ("update_context 'step': No update context found for tag 'step'",),
            "with nnx.update_context(tag): split outside, merge inside",
        ),
        "a merge on neither side of the transform": (
            merge_on_neither_side,
            ("update_context 'step': ", "merge_context needs inner=True or inner=False"),
            "with nnx.update_context(tag): split outside, merge inside",
        ),
    },
    errors.UnknownPathError: {
        "an update at paths that are not there": (
            lambda: nnx.update(network(), network_state(head={"b": nnx.Param(1)})),
            ("update: ", "Bag has nothing at the path(s)", f"{LISTED}('head', 'b')"),
            "assign new attributes directly (model.name = variable)",
        )
    },
    errors.StateKeyError: {
        "an attribute that a State has not": (
            lambda: nnx.state(network()).kernel,
            ("No attribute 'kernel' in State", "its keys are: ", "'norm'", "'w'"),
            "state['kernel'] = variable",
        ),
        "a key that a State has not": (
            lambda: nnx.state(network())["kernel"],
            ("No attribute 'kernel' in State", "its keys are: ", "'norm'", "'w'"),
            "state['kernel'] = variable",
        ),
        "a key of an empty State": (
            lambda: nnx.state(network(), nnx.Cache).kernel,
            ("No attribute 'kernel' in State", "its keys are: none, it is empty"),
            "state['kernel'] = variable",
        ),
    },
    errors.SharedReferenceError: {
        "a shared Variable where a tree is asserted": (
            lambda: nnx.split(tied(), graph=False),
            (
                "split: ",
                "Duplicate Param found at paths:",
                "('decoder',)",
                "('encoder',)",
                "Tree mode",
            ),
            "give each path an object of its own, or nnx.split(..., graph=True)",
        )
    },
    errors.PrefixConflictError: {
        "one object under two prefixes": (
            lambda: to_tree_under_two_prefixes(tied()),
            ("Inconsistent aliasing", "[0].decoder: 0", "[1].decoder: 1"),
            "give all paths to the object the same prefix",
        ),
        "one Variable under two prefixes": (
            lambda: to_tree_under_two_prefixes(nnx.Param(1)),
            ("Inconsistent aliasing", "[0]: 0", "[1]: 1"),
            "give all paths to the object the same prefix",
        ),
    },
    errors.StaleRecordError: {
        "a change that the records did not see": (
            change_behind_the_back,
            ("record of Bag: ", "the leaf .w was replaced", "without `__setattr__`"),
            "call nnx.invalidate(model) after such a change",
        )
    },
}
