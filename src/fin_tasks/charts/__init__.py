"""Candlestick charts with earnings reports, and the look of all other figures."""
