"""Results of grad and value_and_grad."""
