"""Solvers by name: each finds the best formula within a size."""
