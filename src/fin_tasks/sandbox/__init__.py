"""Runs programs that models wrote, without trusting them."""
