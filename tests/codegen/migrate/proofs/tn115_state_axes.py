# stays: give each Module its axes
from flax import nnx


@nnx.vmap(state_axes={nnx.Param: 0})
def run(model, x):
    return model(x)
