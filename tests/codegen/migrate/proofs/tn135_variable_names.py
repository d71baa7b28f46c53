# fails: AttributeError
from flax import nnx


class Average(nnx.Variable):
    pass


class Mean(nnx.Variable):
    pass


nnx.register_variable_name_type_pair("tn135_average", Average, True)
nnx.register_variable_name_type_pair("tn135_average", Mean, overwrite=True)
result = nnx.variable_name_from_type(Mean), nnx.variable_type_from_name("tn135_average").__name__
