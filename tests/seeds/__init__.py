"""The examples of the seed documents, with the results that the documents print."""
