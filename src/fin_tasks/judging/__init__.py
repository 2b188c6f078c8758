"""Scores by a judge: a language model that grades responses by a rubric."""
