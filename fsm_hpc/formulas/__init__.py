"""Formulas: size, truth on a table, text and parsing."""

from fsm_hpc.formulas import parser as parser  # files can hold formulas from here on
