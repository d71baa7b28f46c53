"""Running the Linen model of an example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import jax

from typed_nnx_codegen.verify.building import linen_model, mapped
from typed_nnx_codegen.verify.calls import Calls
from typed_nnx_codegen.verify.errors import BadUse
from typed_nnx_codegen.verify.examples import Example
from typed_nnx_codegen.verify.inputs import concrete, float_leaves, keys, perturbed, summed
from typed_nnx_codegen.verify.sides import Side

_SEED: Final = 7


@dataclass
class LinenRun:
    """The Linen model of an example, its variables and what it computes.

    Attributes:
        example: The example.
        side: The side before the migration.
        model: The model.
        args: The arguments of the call.
        kwargs: The keyword arguments of the call.
        variables: The variables, with noise.
        calls: The calls that `init` made.
    """

    example: Example
    side: Side
    model: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    variables: dict[str, Any] = field(default_factory=dict)
    calls: Calls = field(default_factory=Calls)

    def apply(self, seed: int = _SEED) -> tuple[Any, dict[str, Any]]:
        """Call the model; return what it returns and the collections that it changed."""
        return self._applied(self.variables, self.args, self.kwargs, seed)

    def gradients(self, chosen: frozenset[str], seed: int = _SEED) -> tuple[Any, Any]:
        """Return the gradients of a scalar made from the outputs.

        Args:
            chosen: The paths of the outputs that count.
            seed: For the streams of random numbers.

        Returns:
            Those of the `params`, as Linen nests them (zero for what is no float), and those of the
            float inputs.
        """
        params, with_params = float_leaves(self.variables.get("params", {}))
        inputs, with_inputs = float_leaves((self.args, self.kwargs))

        def total(params: list[Any], inputs: list[Any]) -> Any:
            variables = {**self.variables, "params": with_params(params)}
            args, kwargs = with_inputs(inputs)
            outputs, _ = self._applied(variables, args, kwargs, seed)
            return summed(outputs, chosen)

        of_params, of_inputs = jax.grad(total, argnums=(0, 1))(params, inputs)
        return with_params(of_params), of_inputs

    def _applied(
        self, variables: Any, args: tuple[Any, ...], kwargs: dict[str, Any], seed: int
    ) -> tuple[Any, dict[str, Any]]:
        example = self.example
        # Calls may write to dicts that they are given.
        args, kwargs = concrete((args, kwargs))
        with self.side.active():
            returned = self.model.apply(
                variables,
                *args,
                rngs=keys(example.rngs, seed) or None,
                method=example.method,
                mutable=list(example.mutable) or False,
                **kwargs,
            )
        return (returned[0], dict(returned[1])) if example.mutable else (returned, {})


def linen_run(example: Example, old: Side) -> LinenRun:
    """Make the Linen model of an example and its variables.

    Raises:
        BadUse: The class is no Linen module, or a name is not known.
    """
    with old.active():
        model = linen_model(example.build, old)
        if not hasattr(model, "init") or not hasattr(model, "apply"):
            raise BadUse(
                f"{example.build.class_name}: it is not a Linen module.\n"
                "  Fix: Example(Build(...)) with a class that derives from flax.linen.Module"
            )
        args, kwargs = _arguments(example, old)
        run = LinenRun(example, old, model, args, kwargs)
        run.calls.enter(model, example.method, args, kwargs)
        copied_args, copied_kwargs = concrete((args, kwargs))
        with run.calls.recorded():
            variables: Mapping[str, Any] = model.init(
                {"params": jax.random.key(0), **keys(example.rngs, 1)},
                *copied_args,
                method=example.method,
                **copied_kwargs,
            )
    run.variables = perturbed(dict(variables))
    return run


def _arguments(example: Example, side: Side) -> tuple[tuple[Any, ...], dict[str, Any]]:
    def made(build: Any) -> Any:
        return linen_model(build, side)

    args, kwargs = mapped((example.args, example.kwargs), made, side.named)
    return concrete((tuple(args), dict(kwargs)))  # type: ignore[no-any-return]  # a pytree of the same form
