"""Proof levels of an answer: found, proved by the solver, verified by the independent checker."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from fsm_hpc.system.value_types import Count, NonNegative

VERIFIED = "verified"  # the outcome of a successful check


class ProofLevel(Enum):
    """How well it is established that no formula of the length makes fewer errors."""

    FOUND = "found"  # the best so far; there may be a better one
    PROVED = "proved"  # by the solver that found it
    VERIFIED = "verified"  # by the checker as well, which shares no code with the solvers


@dataclass(frozen=True, slots=True)
class Verification:
    """The result of the checker for one formula."""

    claim: str  # SHA-256 of the content of the claim
    outcome: str
    reason: str
    checker: Count  # its version
    processor_s: NonNegative
    formula: str = ""  # that the claim is about, and the largest size it was compared with
    bound: Count = 0
    fingerprint: str = ""  # of the table and settings of a fold; "": of an older version

    def is_about(self, formula: str | None, bound: int | None, fingerprint: str) -> bool:
        """Whether it still applies: a fold may have been computed again."""
        is_same = (self.formula, self.bound) == (formula, bound)
        return is_same and self.fingerprint in ("", fingerprint)


def level(proved: bool, verification: Verification | None) -> ProofLevel:
    """The level of an answer; `verification` belongs to it."""
    if not proved:
        return ProofLevel.FOUND
    is_verified = verification is not None and verification.outcome == VERIFIED
    return ProofLevel.VERIFIED if is_verified else ProofLevel.PROVED


def bounds_in_words(errors: int, bound: int, lower_bound: int, proved_length: int) -> str:
    """`398 errors found; proved up to size 7; for size 8 at least 371`; empty: nothing is known."""
    if not (lower_bound or proved_length):
        return ""
    proved = f"proved up to size {proved_length}" if proved_length else "proved for no size"
    return f"{errors:,} errors found; {proved}; for size {bound} at least {lower_bound:,}"
