"""Training: optimizers, train states, averages of parameters, metrics and checkpoints."""
