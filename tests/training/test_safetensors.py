"""Arrays are exchanged with other programs in files of safetensors."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import safetensors.numpy

import typed_nnx as nnx
from tests.training.checkpoint_models import Network, bits
from typed_nnx.errors import (
    CheckpointDamagedError,
    CheckpointError,
    CheckpointExistsError,
    CheckpointLeafError,
    CheckpointMismatchError,
    CheckpointNotFoundError,
)
from typed_nnx.training._safetensors import DTYPES
from typed_nnx.training.checkpoint import load_safetensors, save_safetensors


def header(file: Path) -> dict[str, Any]:
    """Read the header as the format describes it: its length in eight bytes, then JSON."""
    content = file.read_bytes()
    length = int.from_bytes(content[:8], "little")
    found: dict[str, Any] = json.loads(content[8 : 8 + length])
    return found


def test_a_model_comes_back_bit_for_bit(tmp_path: Path) -> None:
    saved, model = Network(1), Network(2)
    save_safetensors(tmp_path / "m.safetensors", saved)
    load_safetensors(tmp_path / "m.safetensors", model)
    assert bits(model) == bits(saved)


@pytest.mark.parametrize("dtype", sorted(DTYPES))
def test_every_dtype_of_the_format_comes_back(tmp_path: Path, dtype: str) -> None:
    saved = {"a": np.array([[0, 1], [1, 0]]).astype(np.dtype(dtype)), "e": np.zeros((0, 2), dtype)}
    model = {"a": np.zeros((2, 2), dtype), "e": np.ones((0, 2), dtype)}
    save_safetensors(tmp_path / "m", saved)
    assert header(tmp_path / "m")["a"]["dtype"] == DTYPES[dtype]
    load_safetensors(tmp_path / "m", model)
    assert bits(model) == bits(saved)


def test_other_programs_read_the_dotted_names(tmp_path: Path) -> None:
    model = Network(1)
    save_safetensors(tmp_path / "m", model, nnx.Param)
    found = safetensors.numpy.load_file(tmp_path / "m")
    assert sorted(found) == [f"layers.{n}.{name}" for n in (0, 1) for name in ("bias", "kernel")]
    assert np.array_equal(found["layers.1.kernel"], model.layers[1].kernel[...])
    assert "__metadata__" not in header(tmp_path / "m")


@pytest.mark.thorough
def test_keys_are_their_data_and_the_header_says_which(tmp_path: Path) -> None:
    keys = jax.random.split(jax.random.key(3, impl="rbg"), 2)
    saved = nnx.Dict(a=nnx.Variable(keys), legacy=nnx.Variable(jax.random.PRNGKey(1)))
    save_safetensors(tmp_path / "m", saved)
    found = header(tmp_path / "m")
    assert found["a"]["dtype"] == "U32"
    assert found["a"]["shape"] == [2, 4]
    assert json.loads(found["__metadata__"]["typed_nnx.keys"]) == {"a": "rbg"}
    other = nnx.Dict(
        a=nnx.Variable(jnp.zeros_like(keys)), legacy=nnx.Variable(jnp.zeros(2, jnp.uint32))
    )
    load_safetensors(tmp_path / "m", other)
    assert bits(other) == bits(saved)
    wrong = jax.random.split(jax.random.key(0, impl="unsafe_rbg"), 2)
    with pytest.raises(CheckpointMismatchError, match="found rbg as 'a'"):
        load_safetensors(tmp_path / "m", nnx.Dict(a=nnx.Variable(wrong)), ...)


@pytest.mark.parametrize("impl", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_keys_of_another_program_are_those_that_a_model_of_shapes_has(
    tmp_path: Path, impl: str
) -> None:
    key = jax.random.key(3, impl=impl)
    data = np.asarray(jax.random.key_data(key))
    safetensors.numpy.save_file({"a": data}, tmp_path / "m")
    model = nnx.eval_shape(lambda: nnx.Dict(a=nnx.Variable(key)))
    load_safetensors(tmp_path / "m", model)
    assert model["a"][...] == key


def torch_name(path: tuple[Any, ...]) -> str | None:
    """Name paths as torch does; statistics and streams have no name there."""
    if path[0] != "layers":
        return None
    _, number, name = path
    return f"net.{number}.{'weight' if name == 'kernel' else name}"


def test_names_and_layouts_of_another_program_are_mapped(tmp_path: Path) -> None:
    saved, model = Network(1), Network(2)
    arrays = {}
    for number, layer in enumerate(saved.layers):
        arrays[f"net.{number}.weight"] = np.ascontiguousarray(np.asarray(layer.kernel[...]).T)
        arrays[f"net.{number}.bias"] = np.asarray(layer.bias[...])
    safetensors.numpy.save_file(arrays, tmp_path / "torch")

    def transposed(path: tuple[Any, ...], array: np.ndarray) -> np.ndarray:
        return array.T if path[-1] == "kernel" else array

    load_safetensors(tmp_path / "torch", model, name=torch_name, transform=transposed)
    assert bits(nnx.state(model, nnx.Param)) == bits(nnx.state(saved, nnx.Param))
    assert bits(nnx.state(model, nnx.RngState)) == bits(nnx.state(Network(2), nnx.RngState))
    save_safetensors(tmp_path / "ours", model, name=torch_name)
    assert sorted(header(tmp_path / "ours")) == sorted(arrays)


def test_filters_load_a_part(tmp_path: Path) -> None:
    model = Network(2)
    save_safetensors(tmp_path / "m", Network(1))
    load_safetensors(tmp_path / "m", model, nnx.BatchStat)
    assert model.mean[...].tolist() == [1, 1, 1]
    assert bits(nnx.state(model, nnx.Param)) == bits(nnx.state(Network(2), nnx.Param))


def test_everything_that_differs_is_in_one_error_and_nothing_changes(tmp_path: Path) -> None:
    model = nnx.Dict(
        a=nnx.Param(jnp.zeros(2)), b=nnx.Param(jnp.zeros(2)), c=nnx.Param(jnp.zeros(2)),
        d=nnx.Param(jnp.zeros(1)),
    )  # fmt: skip
    arrays = {"a": np.ones(2, np.float32), "b": np.ones(2, np.float16), "c": np.ones(3, np.float32)}
    safetensors.numpy.save_file({**arrays, "x.y": np.ones(1, np.int8)}, tmp_path / "m")
    with pytest.raises(CheckpointMismatchError) as info:
        load_safetensors(tmp_path / "m", model)
    assert info.value.missing == [(("d",), "float32[1] as 'd'")]
    assert info.value.extra == [(("x.y",), "int8[1]")]
    assert info.value.wrong == [
        (("b",), "float32[2]", "float16[2] as 'b'"),
        (("c",), "float32[2]", "float32[3] as 'c'"),
    ]
    assert not model.a[...].any()


def test_what_is_no_file_of_the_format_is_said(tmp_path: Path) -> None:
    model, file = Network(2), tmp_path / "m"
    with pytest.raises(CheckpointNotFoundError):
        load_safetensors(file, model)
    with pytest.raises(CheckpointError, match="is a folder"):
        load_safetensors(tmp_path, model)
    save_safetensors(file, Network(1))
    size = file.stat().st_size
    for length in (size - 1, size // 2, 9, 3, 0):
        os.truncate(file, length)
        with pytest.raises(CheckpointDamagedError):
            load_safetensors(file, model)
    file.write_bytes(b"something else, longer than eight bytes")
    with pytest.raises(CheckpointDamagedError):
        load_safetensors(file, model)
    assert bits(model) == bits(Network(2))


def test_a_file_is_replaced_only_if_asked_and_never_half(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, file = Network(3), tmp_path / "m"
    save_safetensors(file, Network(1))
    with pytest.raises(CheckpointExistsError, match="overwrite=True"):
        save_safetensors(file, Network(2))
    write = safetensors.numpy.save_file

    def interrupted(arrays: Any, name: Any, **options: Any) -> None:
        write(arrays, name, **options)
        os.truncate(name, 20)
        raise KeyboardInterrupt

    monkeypatch.setattr(safetensors.numpy, "save_file", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_safetensors(file, Network(2), overwrite=True)
    monkeypatch.undo()
    load_safetensors(file, model)
    assert bits(model) == bits(Network(1))
    save_safetensors(file, Network(2), overwrite=True)
    load_safetensors(file, model)
    assert bits(model) == bits(Network(2))
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_in_the_file_is_listed(tmp_path: Path) -> None:
    model = nnx.Dict(
        a=nnx.Param(jnp.ones(2, jnp.int4)), b=nnx.Variable(3), c=nnx.Param(jnp.ones(1))
    )
    with pytest.raises(CheckpointLeafError) as info:
        save_safetensors(tmp_path / "m", model)
    assert [path for path, _ in info.value.leaves] == [("a",), ("b",)]
    with pytest.raises(CheckpointError, match="two tensors 'same'"):
        save_safetensors(tmp_path / "m", Network(1), name=lambda path: "same")
    with pytest.raises(CheckpointError, match="is a folder"):
        save_safetensors(tmp_path, Network(1))
    assert not list(tmp_path.iterdir())
    safetensors.numpy.save_file({"same": np.ones(3, np.float32)}, tmp_path / "m")
    with pytest.raises(CheckpointError, match="which part of a tensor each of them takes"):
        load_safetensors(tmp_path / "m", Network(1), name=lambda path: "same")


def test_leaves_may_take_parts_of_one_tensor(tmp_path: Path) -> None:
    tensor = np.arange(12, dtype=np.float32).reshape(2, 6)
    safetensors.numpy.save_file({"qkv": tensor}, tmp_path / "m")
    model = nnx.Dict({name: nnx.Param(jnp.zeros((2, 2))) for name in "qkv"})
    load_safetensors(
        tmp_path / "m",
        model,
        name=lambda path: "qkv",
        transform=lambda path, array: array[:, 2 * "qkv".index(path[0]) :][:, :2],
    )
    for number, name in enumerate("qkv"):
        assert np.array_equal(model[name][...], tensor[:, 2 * number : 2 * number + 2])
    with pytest.raises(CheckpointMismatchError) as caught:
        load_safetensors(tmp_path / "m", model, name=lambda _: "qkv", transform=lambda _, a: a)
    assert [path for path, *_ in caught.value.wrong] == [("k",), ("q",), ("v",)]
    assert np.array_equal(model["v"][...], tensor[:, 4:])
