"""conf/language: which formulas are searched."""

from __future__ import annotations

from dataclasses import dataclass

from fsm_hpc.formulas.language import Language
from fsm_hpc.system.settings import Scope, setting


@dataclass(frozen=True, slots=True)
class LanguageSettings:
    """A group of one setting, so that a language is a word as a method or a solver is."""

    name: Language = setting(
        help="which connectives formulas have", changes=Scope.FORMULAS, legacy="paper"
    )
