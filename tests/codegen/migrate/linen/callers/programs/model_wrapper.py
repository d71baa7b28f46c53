"""SAC as in jaxrl: `Model` wraps a module, its parameters and optimizer; replay and targets."""

import functools
from typing import Any, Callable, Optional, Sequence, Tuple

import flax
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

Params = flax.core.FrozenDict[str, Any]


@flax.struct.dataclass
class Model:
    step: int
    apply_fn: Callable[..., Any] = flax.struct.field(pytree_node=False)
    params: Params
    tx: Optional[optax.GradientTransformation] = flax.struct.field(pytree_node=False)
    opt_state: Optional[optax.OptState] = None

    @classmethod
    def create(
        cls,
        model_def: nn.Module,
        inputs: Sequence[jnp.ndarray],
        tx: Optional[optax.GradientTransformation] = None,
    ) -> "Model":
        variables = model_def.init(*inputs)
        params = variables["params"]
        opt_state = tx.init(params) if tx is not None else None
        return cls(step=1, apply_fn=model_def.apply, params=params, tx=tx, opt_state=opt_state)

    def __call__(self, *args, **kwargs):
        return self.apply_fn({"params": self.params}, *args, **kwargs)

    def apply(self, *args, **kwargs):
        return self.apply_fn(*args, **kwargs)

    def apply_gradient(self, loss_fn) -> Tuple[Any, "Model"]:
        grads, info = jax.grad(loss_fn, has_aux=True)(self.params)
        updates, new_opt_state = self.tx.update(grads, self.opt_state, self.params)
        new_params = optax.apply_updates(self.params, updates)
        new = self.replace(step=self.step + 1, params=new_params, opt_state=new_opt_state)
        return new, info


class MLP(nn.Module):
    hidden_dims: Sequence[int]
    activations: Callable[[jnp.ndarray], jnp.ndarray] = nn.relu
    activate_final: bool = False

    @nn.compact
    def __call__(self, x: jnp.ndarray) -> jnp.ndarray:
        for i, size in enumerate(self.hidden_dims):
            x = nn.Dense(size)(x)
            if i + 1 < len(self.hidden_dims) or self.activate_final:
                x = self.activations(x)
        return x


class Critic(nn.Module):
    hidden_dims: Sequence[int]

    @nn.compact
    def __call__(self, observations: jnp.ndarray, actions: jnp.ndarray) -> jnp.ndarray:
        inputs = jnp.concatenate([observations, actions], -1)
        critic = MLP((*self.hidden_dims, 1))(inputs)
        return jnp.squeeze(critic, -1)


class DoubleCritic(nn.Module):
    hidden_dims: Sequence[int]

    @nn.compact
    def __call__(self, observations, actions):
        return Critic(self.hidden_dims)(observations, actions), Critic(self.hidden_dims)(
            observations, actions
        )


class Actor(nn.Module):
    hidden_dims: Sequence[int]
    action_dim: int

    @nn.compact
    def __call__(self, observations: jnp.ndarray, temperature: float = 1.0) -> jnp.ndarray:
        outputs = MLP(self.hidden_dims, activate_final=True)(observations)
        return jnp.tanh(nn.Dense(self.action_dim)(outputs)) * temperature


class Temperature(nn.Module):
    initial_temperature: float = 1.0

    @nn.compact
    def __call__(self) -> jnp.ndarray:
        log_temp = self.param(
            "log_temp", init_fn=lambda key: jnp.full((), jnp.log(self.initial_temperature))
        )
        return jnp.exp(log_temp)


class ReplayBuffer:
    def __init__(self, capacity: int):
        self.items = []
        self.capacity = capacity
        self.rng = np.random.RandomState(0)

    def insert(self, item):
        self.items = [*self.items, item][-self.capacity :]

    def sample(self, size: int):
        chosen = [self.items[i] for i in self.rng.randint(len(self.items), size=size)]
        return [jnp.stack(part) for part in zip(*chosen)]


def target_update(critic: Model, target_critic: Model, tau: float) -> Model:
    new_target_params = jax.tree_util.tree_map(
        lambda p, tp: p * tau + tp * (1 - tau), critic.params, target_critic.params
    )
    return target_critic.replace(params=new_target_params)


def update_critic(actor, critic, target_critic, temp, batch):
    obs, actions, rewards, next_obs = batch
    next_q = jnp.minimum(*target_critic(next_obs, actor(next_obs))) - 0.1 * temp()
    target_q = rewards + 0.99 * next_q

    def critic_loss_fn(critic_params):
        q1, q2 = critic.apply_fn({"params": critic_params}, obs, actions)
        loss = ((q1 - target_q) ** 2 + (q2 - target_q) ** 2).mean()
        return loss, {"critic_loss": loss}

    return critic.apply_gradient(critic_loss_fn)


def update_actor(actor, critic, batch):
    def actor_loss_fn(params):
        actions = actor.apply({"params": params}, batch[0], temperature=0.5)
        loss = -jnp.minimum(*critic(batch[0], actions)).mean()
        return loss, {"actor_loss": loss}

    return actor.apply_gradient(actor_loss_fn)


@functools.partial(jax.jit, static_argnames=("update_target",))
def _update_jit(actor, critic, target_critic, temp, batch, update_target: bool):
    critic, critic_info = update_critic(actor, critic, target_critic, temp, batch)
    if update_target:
        target_critic = target_update(critic, target_critic, 0.3)
    actor, actor_info = update_actor(actor, critic, batch)
    return actor, critic, target_critic, {**critic_info, **actor_info}


class SACLearner:
    def __init__(self, seed, observations, actions, hidden_dims=(6, 5)):
        rng = jax.random.PRNGKey(seed)
        rng, actor_key, critic_key, temp_key = jax.random.split(rng, 4)
        actor_def = Actor(hidden_dims, actions.shape[-1])
        self.actor = Model.create(
            actor_def, inputs=[actor_key, observations], tx=optax.adam(learning_rate=1e-2)
        )
        critic_def = DoubleCritic(hidden_dims)
        self.critic = Model.create(
            critic_def, inputs=[critic_key, observations, actions], tx=optax.adam(1e-2)
        )
        self.target_critic = Model.create(critic_def, inputs=[critic_key, observations, actions])
        self.temp = Model.create(Temperature(0.5), inputs=[temp_key], tx=optax.sgd(0.1))

    def update(self, batch, step):
        self.actor, self.critic, self.target_critic, info = _update_jit(
            self.actor, self.critic, self.target_critic, self.temp, batch, step % 2 == 0
        )
        return info


def run():
    obs = jax.random.normal(jax.random.PRNGKey(1), (8, 4))
    actions = jax.random.normal(jax.random.PRNGKey(2), (8, 2))
    learner = SACLearner(0, obs[:1], actions[:1])
    buffer = ReplayBuffer(6)
    for i in range(8):
        buffer.insert((obs[i], actions[i], obs[i].sum(), -obs[i]))
    infos = [learner.update(buffer.sample(4), step) for step in range(4)]
    return infos, learner.actor(obs), learner.target_critic(obs, actions)
