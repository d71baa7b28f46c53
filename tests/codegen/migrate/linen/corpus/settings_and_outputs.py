"""Linen modules as language models have them: settings in one object, tuples of open length."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import linen as nn

from typed_nnx_codegen.verify.examples import Build, Example


@dataclass(frozen=True)
class Settings:
    """The sizes of a model."""

    width: int = 8
    heads: int = 2
    layers: int = 2


@dataclass
class Outputs:
    """What a model returns where it is asked for names."""

    states: Any
    summary: Any = None
    every: Any = None

    def __getitem__(self, number):
        kept = [one for one in (self.states, self.summary, self.every) if one is not None]
        return kept[number]


class Attending(nn.Module):
    """Attention whose keys may come from elsewhere, and that returns its weights if asked to."""

    settings: Settings

    def setup(self):
        self.ask = nn.Dense(self.settings.width)
        self.answer = nn.Dense(self.settings.width)

    def __call__(self, states, others=None, with_weights=False):
        heads = (self.settings.heads, self.settings.width // self.settings.heads)
        asked = self.ask(states)
        asked = asked.reshape(asked.shape[:2] + heads)
        if others is not None:
            keys = self.answer(others)
        else:
            keys = self.answer(states)
        keys = keys.reshape(keys.shape[:2] + heads)
        weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", asked, keys))
        mixed = jnp.einsum("...hqk,...khd->...qhd", weights, keys)
        mixed = mixed.reshape(mixed.shape[:2] + (-1,))
        return (mixed, weights) if with_weights else (mixed,)


class Layer(nn.Module):
    """Hands on the first item of a tuple, and the others after its own."""

    settings: Settings

    def setup(self):
        self.attending = Attending(self.settings)
        self.after = nn.Dense(self.settings.width)

    def __call__(self, states, others=None, with_weights: bool = False):
        found = self.attending(states, others, with_weights=with_weights)
        states = states + self.after(found[0])
        rest = found[1:]
        if others is not None:
            rest = rest + self.attending(states, others, with_weights=with_weights)[1:]
        return (states,) + rest


class Layers(nn.Module):
    """Numbered layers, in one branch of `setup` each under `nn.remat`."""

    settings: Settings
    saves_memory: bool = False

    def setup(self):
        if self.saves_memory:
            Saving = nn.remat(Layer, static_argnums=(3,))
            self.layers = [Saving(self.settings, name=str(i)) for i in range(self.settings.layers)]
        else:
            self.layers = [Layer(self.settings, name=str(i)) for i in range(self.settings.layers)]

    def __call__(self, states, others=None, with_weights: bool = False, with_names: bool = True):
        every = () if with_weights else None
        for layer in self.layers:
            found = layer(states, others, with_weights)
            states = found[0]
            if with_weights:
                every += (found[1],)
        outputs = (states, every)
        if not with_names:
            return tuple(one for one in outputs if one is not None)
        return Outputs(states=states, every=every)


class Model(nn.Module):
    """Returns a tuple or an object, of which others take items by number."""

    settings: Settings
    sums_up: bool = True
    saves_memory: bool = False

    def setup(self):
        self.layers = Layers(self.settings, saves_memory=self.saves_memory)
        self.last = nn.Dense(3)
        self.first = nn.Dense(self.settings.width)

    def __call__(self, inputs, with_names: bool = True):
        outputs = self.layers(self.first(inputs), with_names=with_names)
        states = outputs[0]
        summary = self.last(states[:, 0]) if self.sums_up else None
        if not with_names:
            if summary is None:
                return (states,) + outputs[1:]
            return (states, summary) + outputs[1:]
        return Outputs(states=states, summary=summary, every=outputs.every)


class Classifier(nn.Module):
    """Takes the second item of what a model returns."""

    settings: Settings

    def setup(self):
        self.model = Model(self.settings)
        self.classes = nn.Dense(4)

    def __call__(self, inputs, with_names: bool = True):
        outputs = self.model(inputs, with_names=with_names)
        return self.classes(outputs[1])


SETTINGS = Build("Settings")
STATES = jnp.sin(jnp.arange(80.0)).reshape(2, 5, 8)
INPUTS = jnp.sin(jnp.arange(60.0)).reshape(2, 5, 6)

EXAMPLES = [
    Example(Build("Attending", SETTINGS), STATES),
    Example(Build("Attending", SETTINGS), STATES, STATES[:, :3], with_weights=True, name="two"),
    Example(Build("Layer", SETTINGS), STATES, STATES[:, :3]),
    Example(Build("Layers", SETTINGS), STATES, with_names=False),
    Example(Build("Layers", SETTINGS, True), STATES, with_names=False, name="saves memory"),
    Example(Build("Model", SETTINGS), INPUTS, with_names=False),
    Example(Build("Model", SETTINGS, sums_up=False), INPUTS, with_names=False, name="no summary"),
    Example(Build("Classifier", SETTINGS), INPUTS),
    Example(Build("Classifier", SETTINGS), INPUTS, with_names=False, name="as a tuple"),
]
