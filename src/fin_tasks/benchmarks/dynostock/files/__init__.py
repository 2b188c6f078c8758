"""Prices and earnings reports in people's files, as vendors and banks export them."""
