"""Benchmarks: each prints its figures from one run."""
