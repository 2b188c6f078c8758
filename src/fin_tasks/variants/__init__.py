"""Variants of published questions: other numbers, and the truth that the gold program gives for them."""
