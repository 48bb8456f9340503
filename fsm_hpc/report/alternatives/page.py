"""Write the explorer: an HTML page to sort, change and compare near-optimal rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from fsm_hpc.formulas.formula import Atom, Proposition
from fsm_hpc.formulas.text import number, quote
from fsm_hpc.models import combine
from fsm_hpc.models import model as model_file
from fsm_hpc.models.combine import ClassRule
from fsm_hpc.models.exporters import sql
from fsm_hpc.models.learn import coverage
from fsm_hpc.models.model import Model, Rule
from fsm_hpc.models.notes import Note, NoteKind
from fsm_hpc.report.alternatives.rule import FittedRule
from fsm_hpc.report.alternatives.summary import AlternativesSummary, missing
from fsm_hpc.search.near_optimal.families import Family
from fsm_hpc.search.near_optimal.rashomon import RashomonSet
from fsm_hpc.search.solvers.native.kernels.columns import INTERVAL
from fsm_hpc.search.solvers.native.table import KernelColumn
from fsm_hpc.system.numbers import percent
from fsm_hpc.system.pages import content_security_policy, templates

_FOLDER = Path(__file__).parent
MOST_FAMILIES = 20_000  # on a page; --json and --csv contain all
_LOW, _HIGH = 4242001.0, 4242002.0  # placeholders for thresholds, replaced by the page


def render(summary: AlternativesSummary) -> str:
    """The page as HTML without external resources."""
    from markupsafe import Markup

    data = json.dumps(_data(summary), separators=(",", ":")).replace("<", "\\u003c")
    script = (_FOLDER / "explorer.js").read_text(encoding="utf-8")
    rows = summary.rule.problem.rows
    return (
        templates(_FOLDER)
        .get_template("explorer.html")
        .render(
            summary=summary,
            rashomon=summary.rashomon,
            rows=rows,
            missing=list(missing(summary.rashomon)),
            left_out=max(0, len(summary.rashomon.families) - MOST_FAMILIES),
            percent=percent,
            data=Markup(data),
            style=Markup((_FOLDER / "explorer.css").read_text(encoding="utf-8")),
            script=Markup(script),
            policy=content_security_policy(script),
        )
    )


def _data(summary: AlternativesSummary) -> dict[str, Any]:
    rashomon, rule = summary.rashomon, summary.rule
    families = rashomon.families[:MOST_FAMILIES]
    used = sorted({c for family in families for c in family.raw.columns})
    columns = [rashomon.space.table.columns[c] for c in used]
    model = _model(rule, {column.name for column in columns})
    return {
        "optimum": rashomon.optimum,
        "slack": rashomon.slack,
        "count": rashomon.count,
        "rows": list(rule.rows),
        "labels": rule.problem.labels.astype(int).tolist(),
        "yes": rashomon.yes.tolist(),
        "answers": [f"{rule.target} = {value}" for value in rule.classes],
        "columns": [_column(rashomon, column, model) for column in columns],
        "families": [_family(summary, family, used) for family in families],
        "model": model_file.content(model),
        "sources": {n: s.name for s in model.sources for n in s.one_hot_names},
        "missing": list(zip((s.name for s in model.sources), sql.missing(model), strict=False)),
        "end": "{1} ELSE {0} END".format(*sql.answers(model)),
    }


def _column(rashomon: RashomonSet, column: KernelColumn, model: Model) -> dict[str, Any]:
    """The ranks of its rows, the text of each threshold, and its SQL condition."""
    is_interval, name = column.kind == INTERVAL, column.name
    ranks = column.ranks[rashomon.space.table.group].tolist()
    entry = {"name": name, "quoted": quote(name), "ranks": ranks}
    if column.numeric is None:
        (fixed,) = column.codes
        return entry | {"kind": "fixed", "text": str(fixed), "sql": _sql(fixed, model)}
    low = Proposition.within(name, _LOW, _HIGH) if is_interval else Proposition.at_least(name, _LOW)
    return entry | {
        "kind": "interval" if is_interval else "pivot",
        "cuts": [number(column.numeric.write(cut)) for cut in rashomon.problem.observed[name]],
        "sql": _sql(low, model).replace(number(_LOW), "{low}").replace(number(_HIGH), "{high}"),
    }


def _sql(proposition: Proposition, model: Model) -> str:
    return sql.condition(model, replace(model.rule, formula=Atom(proposition)))


def _family(summary: AlternativesSummary, family: Family, used: list[int]) -> dict[str, Any]:
    raw = family.raw
    return {
        "formula": str(family.formula),
        "tree": summary.rashomon.space.functions[raw.function].function.tree,
        "columns": [used.index(c) for c in raw.columns],
        "cuts": raw.thresholds,
        "ranges": raw.ranges,
        "size": family.size,
        "errors": family.errors,
        "count": family.count,
        "held": summary.held_out(family),
    }


def _model(rule: FittedRule, used: set[str]) -> Model:
    """The rule with all columns of its alternatives; the page inserts the formula."""
    no, yes = map(_plain, rule.classes)
    covered = coverage(rule.formula.evaluate(rule.problem.table), rule.problem.labels, None)
    one = Rule(rule.formula, yes, rule.bound, rule.errors, False, covered.precision or 0.0)
    labels = rule.problem.labels.astype(np.int64)
    sources = rule.dataset.schemas_of(used | _columns_of(rule))
    note = Note.of(NoteKind.CHOSEN, text="chosen by hand among the alternatives of a rule")
    fitted = [ClassRule(one, rule.problem, (note,))]
    settings = {"data": rule.dataset.digest}
    model = combine.build(rule.target, (no, yes), labels, fitted, sources, settings=settings)
    return replace(model, sources=sources)


def _columns_of(rule: FittedRule) -> set[str]:
    return {p.column for p in rule.formula.propositions()}


def _plain(value: object) -> Any:
    return value.item() if isinstance(value, np.generic) else value
