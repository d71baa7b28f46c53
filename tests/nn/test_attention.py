"""MultiHeadAttention against flax: parameters, programs, results, gradients, hooks."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import typed_nnx as nnx
from tests.nn.twins import DTYPES, LIBRARIES, Twins, assert_same_bits, normal
from tests.support.examples import few_or

quick = settings(max_examples=few_or(10, 100), deadline=None)


@st.composite
def layers(draw: Any) -> dict[str, Any]:
    heads, shared = draw(st.sampled_from([(1, 1), (2, 1), (4, 2)]))
    return {
        "num_heads": heads,
        "in_features": 4,
        "qkv_features": heads * 2,
        "out_features": draw(st.sampled_from([None, 3])),
        "num_kv_heads": draw(st.sampled_from([shared, None])),
        "in_kv_features": draw(st.sampled_from([None, 5])),
        "dtype": draw(st.sampled_from(DTYPES)),
        "param_dtype": draw(st.sampled_from(DTYPES[1:])),
        "broadcast_dropout": draw(st.booleans()),
        "dropout_rate": draw(st.sampled_from([0.0, 0.3])),
        "use_bias": draw(st.booleans()),
        "normalize_qk": draw(st.booleans()),
        "keep_rngs": draw(st.booleans()),
        "decode": False,
    }


@st.composite
def calls(draw: Any, options: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    batch, queries = draw(st.sampled_from([(), (2,), (2, 2)])), draw(st.integers(1, 3))
    dtype = draw(st.sampled_from(DTYPES[1:]))
    args: tuple[Any, ...] = (normal(*batch, queries, options["in_features"], dtype=dtype),)
    keys = queries
    if options["in_kv_features"] is not None or draw(st.booleans()):
        keys = draw(st.integers(1, 3))
        features = options["in_kv_features"] or options["in_features"]
        args += (normal(*batch, keys, features, dtype=dtype, seed=8),)
    if len(args) == 2 and draw(st.booleans()):
        args += (normal(*args[1].shape, dtype=dtype, seed=9),)
    kwargs: dict[str, Any] = {"is_causal": draw(st.booleans())}
    if draw(st.booleans()):
        heads = draw(st.sampled_from([1, options["num_heads"]]))
        mask = np.asarray(normal(*batch, heads, queries, keys)) > 0
        kind = draw(st.sampled_from([jnp.bool_, jnp.float32]))
        kwargs["mask"] = jnp.asarray(mask.astype(kind))
    if options["dropout_rate"]:
        kwargs["deterministic"] = draw(st.booleans()) or not options["keep_rngs"]
    return args, kwargs


@pytest.mark.thorough
@quick
@given(st.data())
def test_attention_is_the_twin_of_flax(data: Any) -> None:
    options = data.draw(layers())
    args, kwargs = data.draw(calls(options))
    twins = Twins(lambda lib, rngs: lib.MultiHeadAttention(rngs=rngs, **options))
    twins.assert_made_alike()
    twins.assert_same_program(*args, **kwargs)
    twins.assert_same_gradients(*args, **kwargs)


@pytest.mark.thorough
@pytest.mark.parametrize("precision", ["high", "highest", jax.lax.Precision.HIGH])
def test_a_precision_changes_nothing_on_a_cpu_and_reaches_every_product(precision: Any) -> None:
    make = lambda lib, rngs: lib.MultiHeadAttention(  # noqa: E731  # one line shorter than a def
        2, 4, decode=False, precision=precision, rngs=rngs
    )
    twins, x = Twins(make), normal(2, 3, 4)
    assert_same_bits(twins.ours(x), twins.theirs(x))
    graphdef, state = nnx.split(twins.ours)
    text = str(jax.make_jaxpr(lambda state: nnx.merge(graphdef, state)(x))(state))
    assert text.count("dot_general[") == 6
    assert text.count("precision=(") == 6


@pytest.mark.thorough
def test_weights_are_sown_as_in_flax_and_each_row_of_them_sums_to_one() -> None:
    twins = Twins(lambda lib, rngs: lib.MultiHeadAttention(2, 4, decode=False, rngs=rngs))
    x = normal(2, 3, 4)
    for _ in range(2):
        assert_same_bits(*(layer(x, sow_weights=True, is_causal=True) for layer in twins.both))
    weights, theirs = (layer.attention_weights for layer in twins.both)
    assert isinstance(weights, nnx.Intermediate)
    jax.tree.map(assert_same_bits, weights.get_value(), theirs.get_value())
    first, second = weights.get_value()
    assert first.shape == second.shape == (2, 2, 3, 3)
    np.testing.assert_allclose(first.sum(-1), 1.0, rtol=1e-6)
    assert (jnp.triu(first, 1) == 0).all()


@pytest.mark.thorough
def test_streams_given_to_a_call_are_used_as_in_flax() -> None:
    twins = Twins(
        lambda lib, rngs: lib.MultiHeadAttention(
            2, 4, decode=False, dropout_rate=0.5, deterministic=False, rngs=rngs
        )
    )
    x = normal(2, 3, 4)
    given_rngs = [lib.Rngs(5, dropout=6) for lib in LIBRARIES]
    for pick in (lambda r: r, lambda r: r.dropout, lambda r: r.default):
        ours, theirs = (
            layer(x, rngs=pick(r)) for layer, r in zip(twins.both, given_rngs, strict=True)
        )
        assert_same_bits(ours, theirs)
    for name in ("dropout", "default"):
        assert given_rngs[0][name].count[...] == given_rngs[1][name].count[...]
    twins.assert_states_equal()  # the layers' own streams did not move


@pytest.mark.thorough
def test_hooks_get_what_flax_gives_them() -> None:
    seen: dict[str, list[Any]] = {lib.__name__: [] for lib in LIBRARIES}

    def shapes(value: Any) -> Any:
        return jax.tree.map(lambda x: getattr(x, "shape", x), value)

    def make(lib: Any, rngs: Any) -> Any:
        log = seen[lib.__name__]
        dtypes = lib.nn.dtypes

        def attention(*args: Any, **kwargs: Any) -> Any:
            module = kwargs.pop("module")
            kwargs["dropout_rng"] = kwargs["dropout_rng"] is not None
            log.append((shapes(args), shapes(kwargs), type(module).__name__))
            return args[0]

        def product(tag: str) -> Any:
            def dot_general(*args: Any, **kwargs: Any) -> Any:
                log.append((tag, shapes(args[:2]), args[2:], kwargs))
                return jax.lax.dot_general(*args, **kwargs)

            return dot_general

        def promote(tag: str) -> Any:
            def promote_dtype(arrays: Any, **kwargs: Any) -> Any:
                log.append((tag, [getattr(x, "shape", None) for x in arrays], kwargs))
                return dtypes.promote_dtype(arrays, **kwargs)

            return promote_dtype

        layer = lib.MultiHeadAttention(
            4,
            8,
            num_kv_heads=2,
            decode=False,
            normalize_qk=True,
            dropout_rate=0.3,
            dtype=jnp.float32,
            precision="high",
            broadcast_dropout=False,
            attention_fn=attention,
            qkv_dot_general=product("qkv"),
            out_dot_general_cls=lambda: product("out"),
            qkv_promote_dtype=promote("qkv"),
            out_promote_dtype=promote("out"),
            ln_promote_dtype=promote("ln"),
            rngs=rngs,
        )
        layer(jnp.ones((2, 3, 8)), mask=jnp.ones((3, 3)), deterministic=False, is_causal=True)
        layer(jnp.ones((2, 3, 8)), deterministic=True, sow_weights=True)
        return layer

    Twins(make)
    # Per call: three projections and their promotions, two norms, attention, and out with its own.
    assert len(seen["typed_nnx"]) == 2 * (6 + 2 + 1 + 2)
    assert seen["typed_nnx"] == seen["flax.nnx"]


def test_initializers_and_metadata_go_where_flax_puts_them() -> None:
    def make(lib: Any, rngs: Any) -> Any:
        init = lib.initializers
        return lib.MultiHeadAttention(
            2,
            4,
            normalize_qk=True,
            kernel_init=init.normal(1.0),
            out_kernel_init=init.normal(2.0),
            bias_init=init.normal(3.0),
            out_bias_init=init.normal(4.0),
            kernel_metadata={"note": "kernel"},
            out_kernel_metadata={"note": "out kernel"},
            bias_metadata={"note": "bias"},
            out_bias_metadata={"note": "out bias"},
            query_ln_scale_metadata={"note": "query scale"},
            key_ln_scale_metadata={"note": "key scale"},
            rngs=rngs,
        )

    twins = Twins(make)
    twins.assert_made_alike()
    assert twins.ours.key_ln.scale.get_metadata("note") == "key scale"


def test_layouts_over_an_explicit_mesh_are_those_of_flax() -> None:
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    spec = jax.sharding.PartitionSpec
    with jax.set_mesh(mesh):
        twins = Twins(lambda lib, rngs: lib.MultiHeadAttention(2, 4, decode=False, rngs=rngs))
        twins.assert_same_program(
            normal(2, 3, 4),
            out_sharding=spec("x", None, None),
            qkv_sharding=spec("x", None, None, None),
        )


def test_view_and_modes_set_what_calls_leave_open() -> None:
    layer = nnx.MultiHeadAttention(2, 4, dropout_rate=0.5, rngs=nnx.Rngs(0))
    x = normal(2, 3, 4)
    view = nnx.view(layer, deterministic=True, decode=False)
    assert_same_bits(view(x), layer(x, deterministic=True, decode=False))
    layer.eval()
    assert_same_bits(layer(x, decode=False), view(x))
    layer.train()
    assert not (layer(x, decode=False) == view(x)).all()
