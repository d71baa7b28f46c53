"""Errors of the transforms that differentiate."""

from __future__ import annotations

from typed_nnx._errors.public import public
from typed_nnx._errors.transforms import ReturnedInputError


@public
class NonScalarLossError(TypeError):
    """A function to be differentiated did not return a scalar.

    Args:
        function: The name of the transform.
        loss: The user's function.
        found: What it returned, in words.
    """

    def __init__(self, function: str, loss: str, found: str) -> None:
        super().__init__(function, loss, found)
        self.function = function
        self.loss = loss
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self.function}: Gradient only defined for scalar-output functions. {self.loss} "
            f"returned {self.found}.\n"
            "  Fix: return loss.mean() or loss.sum(); with further results, has_aux=True and "
            "`return loss, aux`"
        )


@public
class AuxResultError(TypeError):
    """A function that should return (value, aux) returned something else.

    Args:
        function: The name of the transform.
        called: The user's function.
        found: What it returned, in words.
    """

    def __init__(self, function: str, called: str, found: str) -> None:
        super().__init__(function, called, found)
        self.function = function
        self.called = called
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self.function}: with has_aux=True, {self.called} should return a tuple (value, aux); "
            f"it returned {self.found}.\n"
            "  Fix: return value, aux"
        )


@public
class ArgnumsError(ValueError, TypeError):
    """``argnums`` or ``nondiff_argnums`` does not say which arguments are meant.

    Args:
        option: The transform and its option.
        found: What was given.
        problem: What is wrong with it.
    """

    def __init__(self, option: str, found: object, problem: str) -> None:
        super().__init__(option, found, problem)
        self.option = option
        self.found = found
        self.problem = problem

    def __str__(self) -> str:
        return (
            f"{self.option}={self.found!r}: {self.problem}; expected positions of arguments, each "
            "once.\n"
            "  Fix: argnums=0 for the first argument, argnums=(0, 1) for the first two"
        )


@public
class DifferentiatedInputError(ReturnedInputError):
    """A function under `vjp` or `jvp` returned an object that came in, whose values are no output.

    Args:
        function: The name of the transform.
        kind: The type of the object.
        argument: Where it is among the arguments.
        result: Where it is in the result.
    """

    def __str__(self) -> str:
        return (
            f"{self.function}: Duplicate {self.kind} found at paths:\n    {self.argument}\n"
            f"    {self.result}\n"
            "  The result can only be differentiated if its objects are new.\n"
            "  Fix: return nnx.clone(...) of it, or return it as aux with has_aux=True"
        )


@public
class TangentStructureError(TypeError, ValueError):
    """A tangent or cotangent has another structure than the values that it belongs to.

    Args:
        function: The name of the transform.
        place: What the tangent is for.
        expected: What was expected: a type and the paths of its values.
        found: What was given, likewise.
    """

    def __init__(self, function: str, place: str, expected: str, found: str) -> None:
        super().__init__(function, place, expected, found)
        self.function = function
        self.place = place
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return (
            f"{self.function}: unexpected tree structure of {self.place}: expected "
            f"{self.expected}, got {self.found}.\n"
            "  Fix: give a Module of the same structure, or a State of all of these values, such as "
            "jax.tree.map(jnp.zeros_like, nnx.state(model))"
        )


@public
class MissingRuleError(AttributeError, ValueError):
    """A function made with `custom_vjp` was called before it was given its rule.

    Args:
        called: The user's function.
    """

    def __init__(self, called: str) -> None:
        super().__init__(called)
        self.called = called

    def __str__(self) -> str:
        return (
            f"custom_vjp: No VJP defined for {self.called}: it was called before defvjp.\n"
            "  Fix: function.defvjp(fwd, bwd), with fwd(*args) -> (result, residuals) and "
            "bwd(residuals, cotangent) -> a cotangent for each argument"
        )


@public
class RuleResultError(TypeError, ValueError):
    """A rule of `custom_vjp` returned something of another form than was expected.

    Args:
        rule: Which of the two, fwd or bwd, and the function.
        expected: What it should return.
        found: What it returned, in words.
    """

    def __init__(self, rule: str, expected: str, found: str) -> None:
        super().__init__(rule, expected, found)
        self.rule = rule
        self.expected = expected
        self.found = found

    def __str__(self) -> str:
        return (
            f"custom_vjp: {self.rule} should return {self.expected}; it returned {self.found}.\n"
            "  Fix: fwd ends with `return result, residuals`, bwd with a tuple of one cotangent for "
            "each argument that is differentiated, None for zero"
        )


@public
class NoDerivativeError(TypeError):
    """A `custom_vjp` function was differentiated by a value that its rule has no cotangent for.

    Args:
        called: The user's function.
        places: Which values: arguments in nondiff_argnums, or what the function closes over.
    """

    def __init__(self, called: str, places: str) -> None:
        super().__init__(called, places)
        self.called = called
        self.places = places

    def __str__(self) -> str:
        return (
            f"custom_vjp: {self.called} was differentiated by {self.places}, for which its bwd "
            "returns no cotangent.\n"
            "  Fix: pass the value as an argument that is not in nondiff_argnums, or stop its "
            "gradient with jax.lax.stop_gradient"
        )
