from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

import typed_nnx as nnx

x = jnp.ones(3)


class Named(nnx.MultiMetric):
    def __init__(self) -> None:
        super().__init__(loss=nnx.metrics.Average("loss"))


class Model(nnx.Module):
    def __init__(self, rngs: nnx.Rngs, given: nnx.Param[jax.Array]) -> None:
        self.linear = nnx.Linear(2, 3, rngs=rngs)
        self.scale = nnx.Param(jnp.ones(3))
        self.shift = nnx.Param(jnp.ones(3), unit="m")
        self.noise = nnx.Param(nnx.with_metadata(nnx.initializers.ones, origin="x")(rngs(), (3,)))
        self.given = given


class Timed(nnx.Variable[jax.Array]):
    unit: str

    def tick(self) -> None:
        self[...] += 1


class Open(nnx.Variable[jax.Array]):
    def __getattr__(self, name: str) -> Any:
        return name


class Heads(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.named = nnx.Dict(text=nnx.Linear(2, 3, rngs=rngs), image=nnx.LayerNorm(3, rngs=rngs))
        self.listed = nnx.Dict({"a": nnx.Linear(2, 3, rngs=rngs)})


class Stages(nnx.Module):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.stem = nnx.Sequential(nnx.Linear(2, 3, rngs=rngs), nnx.relu, nnx.LayerNorm(3, rngs=rngs))
        self.down = nnx.Sequential(nnx.Linear(2, 3, rngs=rngs))
        if rngs is not None:
            self.down = nnx.Sequential(nnx.LayerNorm(2, rngs=rngs))
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))


class Restored(Heads):
    def __init__(self, rngs: nnx.Rngs) -> None:
        self.named = nnx.Dict(audio=nnx.Linear(2, 3, rngs=rngs))


heads = Heads(nnx.Rngs(0))
model = Model(nnx.Rngs(0), nnx.Param(x, place=1))

# -- reports
model.linear.kernel.kernel  # E typed_nnx: Param: neither it nor its array has `kernel`. Fix: another name, or nnx.Param(..., kernel=...)  [nnx-attribute]
nnx.state(model).linear.kernel.numpy()  # E typed_nnx: has `numpy`  [nnx-attribute]
nnx.state(model, nnx.Param)["linear"].kernel.numpy()  # E typed_nnx: has `numpy`  [nnx-attribute]
model.scale.numpy()  # E: has `numpy`  [nnx-attribute]
model.shift.unity  # E: has `unity`  [nnx-attribute]
nnx.grad(lambda m: m.scale.sum())(model).scale.grads  # E typed_nnx: has `grads`  [nnx-attribute]
Timed(x).tock()  # E: Timed: neither it nor its array has `tock`. Fix: another name, or Timed(..., tock=...)  [nnx-attribute]
model.scale(x)  # E: Param: its array cannot be called. Fix: variable[...] for the array, or call a layer  [nnx-attribute]
count = nnx.Variable(jnp.array(0))
count.increment()  # E: Variable: neither it nor its array has `increment`  [nnx-attribute]
of_unit = count.replace(unit="s")
of_unit.units  # E typed_nnx: has `units`  [nnx-attribute]


class Trainer:
    def __init__(self) -> None:
        self.metrics = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))

    def misspelt(self) -> None:
        self.metrics.los  # E typed_nnx: no metric `los`; its metrics are `loss`  [nnx-attribute]


metrics = nnx.MultiMetric(accuracy=nnx.metrics.Accuracy(), loss=nnx.metrics.Average("loss"))
metrics.comput()  # E typed_nnx: MultiMetric: it has no method and no metric `comput`; its metrics are `accuracy`, `loss`. Fix: one of these, or nnx.MultiMetric(comput=...)  [nnx-attribute]


def in_a_function() -> None:
    own = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
    own.accuracy.compute()  # E typed_nnx: no metric `accuracy`; its metrics are `loss`  [nnx-attribute]
    metrics.updates(loss=x)  # E typed_nnx: no metric `updates`  [nnx-attribute]

model.set_attributes(determinstic=True)  # E: set_attributes: neither Model nor a Module below it has an attribute `determinstic`. Fix: check the spelling, or raise_if_not_found=False  [nnx-attribute]
nnx.MultiMetric(loss=nnx.metrics.Average(), update=nnx.metrics.Average())  # E: MultiMetric: `update` is a method of it, and no name for a metric. Fix: another name, update_metric=...  [nnx-attribute]
metrics.update(loss=x, logits=x, label=x)  # E: MultiMetric.update: `accuracy` needs `labels`. Fix: give all by name  [nnx-call]

heads.named["texts"]  # E: Dict: it has no entry `texts`; its entries are `text`, `image`. Fix: one of these  [nnx-attribute]
heads.named.texts  # E: has no entry `texts`  [nnx-attribute]
heads.listed["b"]  # E: has no entry `b`; its entries are `a`  [nnx-attribute]
nnx.state(heads).named.texts  # E: State of Dict[Module] has no key 'texts'; its keys are: text, image. Fix: did you mean 'text'?  [nnx-state-key]
stages = Stages(nnx.Rngs(0))
stages.stem.layers[0].scale  # E: "Linear" has no attribute "scale"  [attr-defined]
nnx.state(stages).stem.layers[0].scale  # E: State of Linear has no key 'scale'  [nnx-state-key]
nnx.state(stages).stem.layers[1]  # E: is static, so it is in the GraphDef  [nnx-state-excluded]
nnx.state(stages).metrics.accuracy  # E: State of MultiMetric has no key 'accuracy'; its keys are: loss. Fix: use one of them  [nnx-state-key]
nnx.view(model, determinstic=True)  # E: view: neither Model nor a Module below it has an argument of set_view `determinstic`. Fix: check the spelling, or raise_if_not_found=False  [nnx-attribute]
nnx.with_attributes(model, use_bais=True)  # E: with_attributes: neither Model nor a Module below it has an attribute `use_bais`  [nnx-attribute]

# -- correct
reveal_type(stages.stem[0])  # R typed_nnx: Linear
reveal_type(stages.stem.layers[-1])  # R: LayerNorm
reveal_type(stages.stem(x))  # R typed_nnx: Array  # R flax: Any
stages.stem.layers[0].kernel
stages.down.layers[0]
stages.down(x)
nnx.state(stages).down.layers[0]
nnx.state(stages).metrics.loss
nnx.view(stages, use_running_average=True)
nnx.with_attributes(stages, use_bias=True)
nnx.view(model, anything=True, raise_if_not_found=False)
reveal_type(heads.named["text"])  # R: Linear
reveal_type(heads.named.image)  # R: LayerNorm
heads.listed.a.kernel
heads.listed.items()
nnx.state(heads).named.text.kernel
nnx.Variable(jnp.exp)(x)
nnx.state(nnx.MultiHeadAttention(2, 4, rngs=nnx.Rngs(0))).query.bias
model.scale.mean()
Timed(x, unit="s").tick()
Timed(x, unit="s").unit
Timed(x, place="here").place
model.scale.at[0].set(1.0)
model.scale.T.shape
model.scale.get_metadata()
model.scale.sharding
model.shift.unit
of_unit.unit
nnx.Variable("text").upper()
nnx.Variable({"a": 1}).keys()
if hasattr(model.scale, "layout"):
    model.scale.layout
count.set_metadata(label="steps")
count.label
try:
    model.scale.missing
except AttributeError:
    print("as expected")

metrics.update(loss=x, logits=x, labels=x)
metrics.update(**{"loss": x})
metrics.compute()
metrics.reset()
metrics.loss.compute()
reveal_type(metrics.loss)  # R: Average
metrics.accuracy.reset()
metrics.split()
Named().loss.compute()

either = nnx.MultiMetric(first=nnx.metrics.Average())
either = nnx.MultiMetric(second=nnx.metrics.Average())
either.first
either.second
nnx.state(either).first
nnx.state(either).second
model.set_attributes(use_bias=False, precision=None)
model.set_attributes(anything=1, raise_if_not_found=False)

# -- unsure
Restored(nnx.Rngs(0)).named["audio"]
nnx.state(Restored(nnx.Rngs(0))).named.audio
Restored(nnx.Rngs(0)).named["text"]
model.noise.origin
model.given.place
model.scale._private
Open(x).anything
options = {"kept": True}
unsure = nnx.Param(x, **options)
unsure.anything


def read(param: nnx.Param[jax.Array], every: nnx.Variable, init: Callable[..., nnx.Param]) -> None:
    param.anything
    every.anything
    init().anything


more = {"recall": nnx.metrics.Average()}
with_more = nnx.MultiMetric(loss=nnx.metrics.Average("loss"), **more)
with_more.recall
extended = nnx.MultiMetric(loss=nnx.metrics.Average("loss"))
setattr(extended, "extra", nnx.metrics.Average())
extended.extra
named = Named()
named.anything


def given(metrics: nnx.MultiMetric) -> None:
    metrics.anything
    with_other = nnx.clone(metrics)
    with_other.anything


def of_any(model: nnx.Module, names: dict[str, bool]) -> None:
    model.set_attributes(anything=True)
    nnx.Sequential(model).set_attributes(anything=True)
    nnx.Linear(2, 3, rngs=nnx.Rngs(0)).set_attributes(**names)
