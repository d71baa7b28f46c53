# stays: no mode makes all Variables hold references any more
from typed_nnx import use_refs

with use_refs(True):
    pass
