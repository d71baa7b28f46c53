"""What a model's class says: kinds of types, fields, filters, and the States that follow."""
