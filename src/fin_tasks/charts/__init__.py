"""Candlestick charts, drawn the same to the byte, many at a time."""
