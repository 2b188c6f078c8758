"""Find the texts of a collection that help with a question."""
