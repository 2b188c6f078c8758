"""Scenes to draw: real prices with their indicators, and made-up companies' figures, tables and reports."""
