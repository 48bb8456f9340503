"""What a formula is: its size, its truth on a table, its text, and back from text."""

from fsm_hpc.formulas import parser as parser  # files can hold formulas from here on
