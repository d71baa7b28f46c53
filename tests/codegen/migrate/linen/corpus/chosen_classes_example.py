import jax

from typed_nnx_codegen.verify.examples import Build, Example

X = jax.random.normal(jax.random.key(0), (2, 5))

EXAMPLES = [
    Example(Build("ChosenNorms"), X, mutable=("batch_stats",), kwargs={"train": True}),
    Example(Build("ChosenNorms", bn=False, kind="group"), X),
    Example(Build("ChosenByStatement"), X),
    Example(Build("ChosenByStatement", "rms"), X),
    Example(Build("ChosenFunction"), X),
    Example(Build("ChosenFunction", "batch_norm"), X, train=True, mutable=("batch_stats",)),
    Example(Build("ChosenFunction", "none"), X),
    Example(Build("ChosenOnce"), X),
    Example(Build("ChosenOnce", wide=True, plain=True), X),
    Example(Build("ChangedLater"), X),
    Example(Build("NeverSeen"), X),
    Example(Build("HoldsClass", 3), X),
    Example(Build("AsksForClass"), X),
    Example(Build("GivesClass"), X),
    Example(Build("ReturnedToName"), X),
    Example(Build("ReturnedToName", "layer"), X),
    Example(Build("ReturnedToName", "group"), X),
    Example(Build("ReturnedByMethod"), X),
    Example(Build("ReturnedByMethod", "layer"), X),
    Example(Build("ReturnedByOther"), X),
    Example(Build("ReturnsAnother"), X),
    Example(Build("OneNameForTwo"), X),
    Example(Build("OneNameForTwo"), X, is_biased=False),
]
