"""Find texts that help with a question."""
