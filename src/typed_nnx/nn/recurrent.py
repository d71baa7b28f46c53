"""``nnx.nn.recurrent``: recurrent cells, and the layers that run them over sequences."""

from typed_nnx._core.module import Module as Module
from typed_nnx._core.type_variables import A as A
from typed_nnx.nn._bidirectional import Bidirectional as Bidirectional
from typed_nnx.nn._flip_sequences import flip_sequences as flip_sequences
from typed_nnx.nn._gru import GRUCell as GRUCell
from typed_nnx.nn._linear import Linear as Linear
from typed_nnx.nn._lstm import LSTMCell as LSTMCell
from typed_nnx.nn._lstm import OptimizedLSTMCell as OptimizedLSTMCell
from typed_nnx.nn._rnn import RNN as RNN
from typed_nnx.nn._rnn import RNNBase as RNNBase
from typed_nnx.nn._rnn_cell import RNNCellBase as RNNCellBase
from typed_nnx.nn._rnn_cell import modified_orthogonal as modified_orthogonal
from typed_nnx.nn._simple_cell import SimpleCell as SimpleCell
from typed_nnx.nn._typing import Initializer as Initializer
from typed_nnx.nn.activations import sigmoid as sigmoid
from typed_nnx.nn.activations import tanh as tanh
