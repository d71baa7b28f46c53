"""Running the NNX model of an example."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import jax

from typed_nnx_codegen.migrate.weights.class_maps import ClassMaps
from typed_nnx_codegen.migrate.weights.loading import Loaded, load_with, placed
from typed_nnx_codegen.migrate.weights.models import (
    Slot,
    has_counterpart,
    runtime_of,
    slot_in,
    value_of,
    variables_of,
)
from typed_nnx_codegen.migrate.weights.placing import Placement
from typed_nnx_codegen.migrate.weights.problems import Problems
from typed_nnx_codegen.migrate.weights.trees import leaves_of
from typed_nnx_codegen.verify.building import NewModels, StandIn, mapped
from typed_nnx_codegen.verify.comparable import is_float
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Build
from typed_nnx_codegen.verify.inputs import concrete, float_leaves, summed
from typed_nnx_codegen.verify.linen_side import LinenRun
from typed_nnx_codegen.verify.modes import STATISTICS, set_mode
from typed_nnx_codegen.verify.sides import Side


@dataclass
class NnxRun:
    """The NNX model of an example, filled with the weights of the Linen model.

    Attributes:
        linen: The run of the Linen model.
        side: The side after the migration.
        maps: The maps that count.
        model: The model; calls run copies of it.
        loaded: What was filled.
        stand_ins: The sizes that the example does not tell.
    """

    linen: LinenRun
    side: Side
    maps: ClassMaps
    model: Any
    loaded: Loaded
    stand_ins: list[StandIn] = field(default_factory=list)

    def call(self) -> tuple[Any, Any]:
        """Call a copy of the model; return what it returns, and the copy."""
        model = self._copy()
        return self._called(model, *self._arguments()), model

    def gradients(self, chosen: frozenset[str], slots: list[Slot]) -> tuple[list[Any], list[Any]]:
        """Return the gradients of a scalar made from the outputs.

        Args:
            chosen: The paths of the outputs that count.
            slots: The places that are differentiated; all of them have floats alone.

        Returns:
            Those of the values of the places, and those of the float inputs.
        """
        inputs, with_inputs = float_leaves(self._arguments())

        def total(values: list[Any], inputs: list[Any]) -> Any:
            model = self._copy()
            for slot, value in zip(slots, values, strict=True):
                slot_in(model, slot.keys).fill(value)
            args, kwargs = with_inputs(inputs)
            return summed(self._called(model, args, kwargs), chosen)

        values = [slot.value for slot in slots]
        return jax.grad(total, argnums=(0, 1))(values, inputs)  # type: ignore[no-any-return]  # of the form of its arguments

    def placements(self, variables: Any, model: Any) -> tuple[list[Placement], Problems]:
        """Return where Linen variables go in a model, and what goes nowhere."""
        problems = Problems()
        return placed(leaves_of(variables), model, self.maps, problems).placements, problems

    def unfilled(self) -> list[Slot]:
        """Return the places of float Variables that Linen's `init` did not create."""
        # One Variable may be in several places; it was filled at one of them.
        placements, _ = self.placements(self.linen.variables, self.model)
        filled = {each.slot.identity for each in placements}
        return [
            slot_in(self.model, keys)
            for keys, variable in variables_of(self.model)
            if has_counterpart(variable)
            and id(variable) not in filled
            and is_float(value_of(variable))
        ]

    def _copy(self) -> Any:
        nnx = runtime_of(type(self.model))
        graphdef, state = nnx.split(self.model)
        # The leaves of a State may be the Variables themselves; a mapped State has new ones, which
        # may be written to in the trace that is running.
        return nnx.merge(graphdef, jax.tree.map(lambda leaf: leaf, state))

    def _called(self, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        with self.side.active():
            return getattr(model, self.linen.example.method)(*args, **kwargs)

    def _arguments(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        example = self.linen.example

        def made(build: Build) -> Any:
            cls = self.side.named(self.maps.new_name(build.class_name))
            return cls(*build.args, **build.fields)

        with self.side.active():
            args, kwargs = mapped((example.args, example.kwargs), made, self.side.named)
        return concrete((tuple(args), dict(kwargs)))  # type: ignore[no-any-return]  # a pytree of the same form


def nnx_run(linen: LinenRun, new: Side, maps: ClassMaps) -> NnxRun:
    """Make the NNX model of an example and fill it.

    Raises:
        BadUse: A name is not known, or a width is not.
        WeightsError: The weights do not fit the model.
    """
    build = linen.example.build
    with new.active():
        models = NewModels(new, maps, linen.model, linen.calls, build)
        try:
            return _filled(linen, models)
        # The constructor is the user's code. A size that stands in may be why it fails.
        except Exception as error:
            if not models.stand_ins:
                raise
            problems = "\n".join(one.problem for one in models.stand_ins)
            raise BadUse(f"{problems}\n  With {models.stand_ins[0].value}: {error}") from error


def _filled(linen: LinenRun, models: NewModels) -> NnxRun:
    model = models.model()
    try:
        runtime_of(type(model))
    except TypeError as error:
        name = linen.example.build.class_name
        raise BadUse(f"{name}: {error}.\n  Fix: migrate the class") from error
    set_mode(model, is_training=STATISTICS in linen.example.mutable)
    loaded = load_with(linen.variables, model, models.maps, strict=False)
    return NnxRun(linen, models.side, models.maps, model, loaded, models.stand_ins)
