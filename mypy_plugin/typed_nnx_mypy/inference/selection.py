"""Results of split, state, pop and of the methods of State, for any number of filters."""
