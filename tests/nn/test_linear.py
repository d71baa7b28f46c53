"""Linear, LinearGeneral, Einsum and Embed against flax, bit for bit."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.twins import DTYPES, Twins, assert_refused_alike, normal
from typed_nnx import errors

dtypes = st.sampled_from(DTYPES)
param_dtypes = st.sampled_from(DTYPES[1:])
sizes = st.integers(1, 5)
quick = settings(max_examples=15, deadline=None)


@st.composite
def common(draw: Any) -> dict[str, Any]:
    options: dict[str, Any] = {
        "dtype": draw(dtypes),
        "param_dtype": draw(param_dtypes),
        "precision": draw(st.sampled_from([None, "high", jax.lax.Precision.HIGHEST])),
    }
    if draw(st.booleans()):
        options["preferred_element_type"] = jnp.float32
    if draw(st.booleans()):
        options["kernel_metadata"] = {"note": "k"}
    return options


@pytest.mark.thorough
@quick
@given(common(), st.lists(sizes, max_size=3), sizes, sizes, st.booleans(), dtypes)
def test_linear_is_the_twin_of_flax(
    options: Any, batch: Any, ins: int, out: int, use_bias: bool, of_input: Any
) -> None:
    twins = Twins(lambda lib, rngs: lib.Linear(ins, out, use_bias=use_bias, rngs=rngs, **options))
    twins.assert_made_alike()
    x = normal(*batch, ins, dtype=of_input)
    twins.assert_same_call(x)
    twins.assert_same_gradients(x)


@pytest.mark.thorough
@quick
@given(common(), st.data())
def test_linear_general_is_the_twin_of_flax(options: Any, data: Any) -> None:
    batch = data.draw(st.lists(sizes, max_size=2), label="batch")
    between = data.draw(st.lists(sizes, max_size=2), label="between")
    ins = data.draw(st.lists(sizes, min_size=1, max_size=2), label="in")
    out = data.draw(st.lists(sizes, min_size=1, max_size=2), label="out")
    free = [len(batch) + i for i in range(len(between) + len(ins))]
    axes = data.draw(st.permutations(free), label="axes")[: len(ins)]
    ndim = len(batch) + len(free)
    shape = [0] * ndim
    for number, size in enumerate(batch):
        shape[number] = size
    rest = iter(between)
    # Sizes belong to the axes in ascending order, whatever order `axis` has.
    for number in free:
        shape[number] = ins[sorted(axes).index(number)] if number in axes else next(rest)
    axes = [a - ndim if data.draw(st.booleans()) else a for a in axes]
    make = lambda lib, rngs: lib.LinearGeneral(  # noqa: E731  # one line shorter than a def
        ins, out, axis=axes, batch_axis=dict(enumerate(batch)), rngs=rngs, **options
    )
    twins = Twins(make)
    twins.assert_made_alike()
    x = normal(*shape, dtype=options["dtype"])
    twins.assert_same_call(x)
    twins.assert_same_gradients(x)


EQUATIONS = [
    ("nta,hab->nthb", (5, 2, 4), (5, 4), (3, 6, 2)),
    ("nta,hab->ntbh", (5, 2, 4), (4, 5), (3, 6, 2)),
    ("nta,nab->ntb", (3, 2, 4), (3, 4), (3, 6, 2)),
    ("nta,a...->nt...", (2, 4, 7), (4, 7), (3, 6, 2)),
    ("...a,a...->...", (2, 3), (3,), (4, 3, 2)),
    ("...a,ab->...b", (2, 4), (4,), (2,)),
    ("nta,hab->ntb", (5, 2, 4), (4,), (3, 6, 2)),
    ("n t a, a b -> b n t", (2, 4), (4,), (3, 6, 2)),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("text", "kernel", "bias", "shape"), EQUATIONS, ids=lambda v: str(v))
@pytest.mark.parametrize("dtype", [None, jnp.bfloat16], ids=["f32", "bf16"])
def test_einsum_is_the_twin_of_flax(
    text: str, kernel: Any, bias: Any, shape: Any, dtype: Any
) -> None:
    for of_bias in (bias, None):
        twins = Twins(
            lambda lib, rngs, of_bias=of_bias: lib.Einsum(  # type: ignore[misc]  # mypy cannot infer a lambda with a default
                text, kernel, of_bias, dtype=dtype, rngs=rngs
            )
        )
        twins.assert_made_alike()
        twins.assert_same_call(normal(*shape))
        twins.assert_same_gradients(normal(*shape))


@pytest.mark.thorough
def test_einsum_takes_a_number_as_the_shape_of_its_bias() -> None:
    twins = Twins(lambda lib, rngs: lib.Einsum("ik,kj->ij", (5, 4), 4, rngs=rngs))
    twins.assert_same_call(normal(3, 5))


@pytest.mark.thorough
def test_einsum_takes_another_equation_for_one_call() -> None:
    twins = Twins(lambda lib, rngs: lib.Einsum("nta,ab->ntb", (2, 4), (4,), rngs=rngs))
    twins.assert_same_call(normal(3, 6, 2), einsum_str="n t a, a b -> btn")


@pytest.mark.thorough
@quick
@given(sizes, sizes, dtypes, param_dtypes, st.sampled_from([jnp.int32, jnp.uint8, jnp.int8]))
def test_embed_is_the_twin_of_flax(
    rows: int, features: int, dtype: Any, param_dtype: Any, of_input: Any
) -> None:
    twins = Twins(
        lambda lib, rngs: lib.Embed(rows, features, dtype=dtype, param_dtype=param_dtype, rngs=rngs)
    )
    twins.assert_made_alike()
    assert twins.ours.dtype == twins.theirs.dtype
    numbers = jnp.array([[0, rows - 1], [rows + 1, 0]], of_input)
    twins.assert_same_call(numbers)
    mine, other = (layer.attend(normal(2, features)) for layer in twins.both)
    assert mine.dtype == other.dtype
    assert (mine == other).all()


def test_a_number_that_the_table_lacks_gives_nan_and_a_negative_one_counts_from_the_end() -> None:
    table = nnx.Embed(3, 2, rngs=nnx.Rngs(0))
    assert jnp.isnan(table(jnp.array(3))).all()
    assert (table(jnp.array(-1)) == table.embedding[2]).all()


def test_replacements_of_the_product_get_what_flax_gives_them() -> None:
    seen: dict[str, list[Any]] = {"typed_nnx": [], "flax.nnx": []}

    def make(lib: Any, rngs: Any) -> Any:
        def recording(*args: Any, **kwargs: Any) -> Any:
            seen[lib.__name__].append((len(args), args[2:], kwargs))
            return jax.lax.dot_general(*args, **kwargs)

        layers = [
            lib.Linear(3, 4, dot_general=recording, rngs=rngs),
            lib.LinearGeneral(3, 4, dot_general=recording, rngs=rngs),
            lib.LinearGeneral(3, 4, dot_general_cls=lambda: recording, rngs=rngs),
        ]
        for layer in layers:
            layer(jnp.ones((2, 3)))
        return layers[0]

    Twins(make)
    assert len(seen["typed_nnx"]) == 3
    assert seen["typed_nnx"] == seen["flax.nnx"]


@pytest.mark.parametrize(
    ("make", "x"),
    [
        pytest.param(
            lambda lib, rngs: lib.Linear(3, 4, rngs=rngs), jnp.ones((2, 5)), id="Linear, input"
        ),
        pytest.param(
            lambda lib, rngs: lib.Linear(3, 4, rngs=0), jnp.ones((2, 3)), id="Linear, rngs"
        ),
        pytest.param(
            lambda lib, rngs: lib.Linear(3, 4, rngs=lib.Rngs(other=0)),
            jnp.ones((2, 3)),
            id="Linear, no stream",
        ),
        pytest.param(
            lambda lib, rngs: lib.Linear(3, 4, dtype=jnp.int32, rngs=rngs),
            jnp.ones((2, 3)),
            id="Linear, dtype",
        ),
        pytest.param(
            lambda lib, rngs: lib.LinearGeneral((3, 2), 4, rngs=rngs),
            jnp.ones((2, 3)),
            id="LinearGeneral, axis",
        ),
        pytest.param(
            lambda lib, rngs: lib.LinearGeneral(3, 4, batch_axis={1: 2}, rngs=rngs),
            jnp.ones((2, 2, 3)),
            id="LinearGeneral, batch_axis",
        ),
        pytest.param(
            lambda lib, rngs: lib.LinearGeneral(3, 4, rngs=rngs),
            jnp.ones((2, 5)),
            id="LinearGeneral, input",
        ),
        pytest.param(
            lambda lib, rngs: lib.Einsum("ab->a", (3, 4), rngs=rngs),
            jnp.ones((2, 3)),
            id="Einsum, one operand",
        ),
        pytest.param(
            lambda lib, rngs: lib.Einsum("ab,bc", (3, 4), rngs=rngs),
            jnp.ones((2, 3)),
            id="Einsum, no result",
        ),
        pytest.param(
            lambda lib, rngs: lib.Embed(3, 4, rngs=rngs), jnp.ones((2, 3)), id="Embed, floats"
        ),
    ],
)
def test_what_flax_refuses_is_refused(make: Any, x: Any) -> None:
    assert_refused_alike(make, x)


def test_attend_refuses_a_query_of_another_size() -> None:
    table = nnx.Embed(3, 2, rngs=nnx.Rngs(0))
    with pytest.raises(errors.LayerInputError, match=r"`query` is float32\[4,5\]; .*features=2"):
        table.attend(jnp.ones((4, 5)))


def test_a_kernel_with_metadata_of_its_initializer_keeps_it_through_the_reshape() -> None:
    def make(lib: Any, rngs: Any) -> Any:
        init = lib.with_metadata(lib.initializers.lecun_normal(), note="mine")
        return lib.LinearGeneral((2, 3), (4, 5), axis=(-2, -1), kernel_init=init, rngs=rngs)

    twins = Twins(make)
    twins.assert_made_alike()
    assert twins.ours.kernel.get_metadata("note") == "mine"
