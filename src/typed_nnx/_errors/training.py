"""Errors of optimizers, train states, averages and metrics."""

from __future__ import annotations

from typed_nnx._errors.paths import listed
from typed_nnx._errors.public import public


@public
class MissingArgumentError(TypeError):
    """An optimizer was used without an argument that it cannot do without.

    Args:
        function: The function that was called.
        argument: The argument that is missing.
        got: What the call got, in words.
        fix: The line to write.
    """

    def __init__(self, function: str, argument: str, got: str, fix: str) -> None:
        super().__init__(function, argument, got, fix)
        self.function = function
        self.argument = argument
        self.got = got
        self.fix = fix

    def __str__(self) -> str:
        return (
            f"{self.function}: missing required argument `{self.argument}`; got {self.got}.\n"
            f"  Fix: {self.fix}"
        )


@public
class NoModelError(AttributeError):
    """`model` was read from an Optimizer, which does not keep the model that it updates."""

    def __str__(self) -> str:
        return (
            "Optimizer does not have attribute 'model': it keeps only the state of the "
            "optimizer, and `update` is given the model.\n"
            "  Fix: keep the model beside the optimizer, or use nnx.ModelAndOptimizer(model, tx)"
        )


@public
class TransformationError(AttributeError, TypeError):
    """An optimizer was made of something that is no gradient transformation.

    Args:
        got: The name of the type of what was given.
    """

    def __init__(self, got: str) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"Optimizer: `tx` is a {self.got}; expected an optax.GradientTransformation, with "
            "`init` and `update`.\n"
            "  Fix: nnx.Optimizer(model, optax.adam(1e-3), wrt=nnx.Param)"
        )


@public
class SwappedArgumentsError(TypeError):
    """`Optimizer.update` was given a State as the model and an object as the gradients.

    Args:
        model: The name of the type of the first argument.
        grads: The name of the type of the second argument.
    """

    def __init__(self, model: str, grads: str) -> None:
        super().__init__(model, grads)
        self.model = model
        self.grads = grads

    def __str__(self) -> str:
        return (
            f"Optimizer.update: the first argument is a {self.model} and the second is a "
            f"{self.grads}; expected the model, then the gradients.\n"
            "  Fix: optimizer.update(model, grads)"
        )


@public
class UnmatchedLeavesError(ValueError):
    """Values that must lie at the paths of others do not.

    Args:
        function: The function that was called.
        argument: Its argument, and what was expected of it.
        got: What was given, in words.
        missing: Paths at which a value is expected and none is given.
        extra: Paths at which a value is given and none is expected.
        fix: What to do.
    """

    def __init__(
        self,
        function: str,
        argument: str,
        got: str,
        missing: list[tuple[object, ...]],
        extra: list[tuple[object, ...]],
        fix: str,
    ) -> None:
        super().__init__(function, argument, got, missing, extra, fix)
        self.function = function
        self.argument = argument
        self.got = got
        self.missing = missing
        self.extra = extra
        self.fix = fix

    def __str__(self) -> str:
        parts = [f"{self.function}: {self.argument}; got {self.got}."]
        if self.missing:
            parts.append(f"  missing, expected at:{listed(self.missing)}")
        if self.extra:
            parts.append(f"  extra, with no place:{listed(self.extra)}")
        return "\n".join([*parts, f"  Fix: {self.fix}"])


@public
class ChangedShapeError(ValueError):
    """A step of an optimizer would change the shape of a parameter.

    Args:
        path: Where the parameter is.
        old: Its shape.
        new: The shape that it would get.
    """

    def __init__(
        self, path: tuple[object, ...], old: tuple[object, ...], new: tuple[object, ...]
    ) -> None:
        super().__init__(path, old, new)
        self.path = path
        self.old = old
        self.new = new

    def __str__(self) -> str:
        return (
            f"Optimizer.update: at path {self.path!r} the update of a parameter of shape "
            f"{self.old} would make it one of shape {self.new}; nothing was updated.\n"
            "  Fix: pass gradients of the shapes of the parameters (take the mean over a batch "
            "of gradients first)"
        )


@public
class ChangedModelError(ValueError, TypeError):
    """A model has other parameters than it had when its optimizer was made.

    Args:
        function: The function that was called.
        appeared: Paths of parameters that the state of the optimizer knows nothing of.
        vanished: Paths that it knows, and at which there is nothing to update.
        reshaped: Path, shape then and shape now, for parameters that differ.
    """

    def __init__(
        self,
        function: str,
        appeared: list[tuple[object, ...]],
        vanished: list[tuple[object, ...]],
        reshaped: list[tuple[tuple[object, ...], object, object]],
    ) -> None:
        super().__init__(function, appeared, vanished, reshaped)
        self.function = function
        self.appeared = appeared
        self.vanished = vanished
        self.reshaped = reshaped

    def __str__(self) -> str:
        parts = [
            f"{self.function}: the model has other parameters than when the optimizer was made; "
            "nothing was updated."
        ]
        if self.appeared:
            parts.append(f"  new, and unknown to the optimizer:{listed(self.appeared)}")
        if self.vanished:
            parts.append(f"  gone from the model:{listed(self.vanished)}")
        if self.reshaped:
            lines = [f"{path!r}: {then} then, {now} now" for path, then, now in self.reshaped]
            parts.append(f"  of another shape:{listed(lines)}")
        parts.append(
            "  Fix: make the optimizer after the layers are replaced: "
            "optimizer = nnx.Optimizer(model, tx, wrt=nnx.Param)"
        )
        return "\n".join(parts)


@public
class ChangedOptStateError(ValueError):
    """A gradient transformation returned a state of another structure than it was given.

    Args:
        missing: Paths that its state had and no longer has.
        extra: Paths that its state has now and had not.
    """

    def __init__(self, missing: list[tuple[object, ...]], extra: list[tuple[object, ...]]) -> None:
        super().__init__(missing, extra)
        self.missing = missing
        self.extra = extra

    def __str__(self) -> str:
        parts = [
            "Optimizer.update: `tx.update` returned a state of another structure than `tx.init`; "
            "nothing was updated."
        ]
        if self.missing:
            parts.append(f"  missing, expected at:{listed(self.missing)}")
        if self.extra:
            parts.append(f"  extra, with no place:{listed(self.extra)}")
        parts.append("  Fix: let `tx.init` make every array that `tx.update` returns")
        return "\n".join(parts)


@public
class NotAStateError(TypeError):
    """`TrainState.apply` was given the name of a field that holds no State.

    Args:
        field: The class and the field.
        got: The name of the type of what it holds.
        fields: The fields that hold States.
    """

    def __init__(self, field: str, got: str, fields: list[str]) -> None:
        super().__init__(field, got, fields)
        self.field = field
        self.got = got
        self.fields = fields

    def __str__(self) -> str:
        names = ", ".join(map(repr, self.fields))
        return (
            f"TrainState.apply: {self.field} is a {self.got}; expected the name of a field that "
            f"holds a State: {names}.\n"
            f"  Fix: state.apply({self.fields[0] if self.fields else 'params'!r})(x)"
        )


@public
class NotAveragedError(TypeError):
    """`EMA` was to average something that is no Variable.

    Args:
        path: Where it is.
        got: What it is, in words.
    """

    def __init__(self, path: tuple[object, ...], got: str) -> None:
        super().__init__(path, got)
        self.path = path
        self.got = got

    def __str__(self) -> str:
        return (
            f"EMA: at path {self.path!r} there is {self.got}; only Variables are averaged.\n"
            "  Fix: choose Variables with a filter: nnx.EMA(model, decay, only=nnx.Param)"
        )


@public
class AbstractMetricError(NotImplementedError):
    """A subclass of `Metric` does not define a method that it must define.

    Args:
        cls: The name of the class.
        method: The method.
    """

    def __init__(self, cls: str, method: str) -> None:
        super().__init__(cls, method)
        self.cls = cls
        self.method = method

    def __str__(self) -> str:
        return (
            f"{self.cls}: a Metric must override `{self.method}()`, and {self.cls} does not.\n"
            f"  Fix: define {self.method}(self, ...) in a subclass of nnx.Metric, or use "
            "nnx.metrics.Average"
        )


@public
class MetricArgumentError(TypeError):
    """A metric was updated without the keyword argument that it reads.

    Args:
        metric: The name of the class of the metric.
        argname: The keyword that it reads.
        got: The keywords that were given.
    """

    def __init__(self, metric: str, argname: str, got: list[str]) -> None:
        super().__init__(metric, argname, got)
        self.metric = metric
        self.argname = argname
        self.got = got

    def __str__(self) -> str:
        given = ", ".join(self.got) or "none"
        return (
            f"{self.metric}.update: expected keyword argument {self.argname!r}; got {given}.\n"
            f"  Fix: metric.update({self.argname}=...), or make the metric with another name: "
            f"nnx.metrics.{self.metric}({self.got[0] if self.got else 'loss'!r})"
        )


@public
class LabelsError(ValueError):
    """`Accuracy` was given labels whose rank or dtype does not fit.

    Args:
        expected: What was expected.
        got: What was given.
        fix: The line to write.
    """

    def __init__(self, expected: str, got: str, fix: str) -> None:
        super().__init__(expected, got, fix)
        self.expected = expected
        self.got = got
        self.fix = fix

    def __str__(self) -> str:
        return f"Accuracy.update: expected {self.expected}; got {self.got}.\n  Fix: {self.fix}"


@public
class MaskedNumberError(ValueError):
    """A metric was given a mask and a single Python number.

    Args:
        metric: The type of the metric.
        argname: The keyword of the values.
        got: The number.
    """

    def __init__(self, metric: str, argname: str, got: object) -> None:
        super().__init__(metric, argname, got)
        self.metric = metric
        self.argname = argname
        self.got = got

    def __str__(self) -> str:
        return (
            f"{self.metric}.update: with a mask `{self.argname}` should be a jax array; "
            f"got {self.got!r}.\n"
            f"  Fix: metrics.update({self.argname}=jnp.array(...), mask=mask), or no mask"
        )


@public
class ThresholdError(TypeError):
    """The threshold of `Accuracy` is no float.

    Args:
        got: What was given.
    """

    def __init__(self, got: object) -> None:
        super().__init__(got)
        self.got = got

    def __str__(self) -> str:
        return (
            f"Accuracy: `threshold` is {self.got!r} ({type(self.got).__name__}); expected a float "
            "for labels of 0 and 1, or None for class numbers.\n"
            "  Fix: nnx.metrics.Accuracy(threshold=0.5)"
        )


@public
class MetricNameError(ValueError):
    """A metric of a `MultiMetric` has the name of one of its methods.

    Args:
        name: The name.
    """

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return (
            f"MultiMetric: a metric cannot be named {self.name!r}, which is a method or attribute "
            "of MultiMetric; expected another name.\n"
            f"  Fix: nnx.MultiMetric({self.name.strip('_')}_metric=...)"
        )
