"""Formulas compared with other interpretable models: tables and the figure of docs/peers.md.

    python -m benchmarks.peers                        print the tables
    python -m benchmarks.peers --write                write tables and figure into docs/
    python -m benchmarks.peers --figure FILE [--dark] draw accuracy against size

All numbers come from the results of `+experiment=peers`; nothing is run. The tables of an
unfinished study list the folds that are missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import fmean, geometric_mean, median
from typing import Any

from benchmarks import factors
from benchmarks.reproduction import ROOT, Block, rewritten
from benchmarks.study_tables import FOLDS, NOTHING, digits, is_cut, read, row, signed, sweep_of
from fsm_hpc.report import significance
from fsm_hpc.report.collect import FoldGroup, Row, Study, finds_formula, label
from fsm_hpc.system.numbers import counted

PAGE = ROOT / "docs" / "peers.md"
FIGURE = ROOT / "docs" / "figures" / "peers.svg"
RULE = "pivot"  # the formula method that peers are compared with
SIMPLE = ("logistic_regression", "tree")  # the quick models that `fit` compares a rule with
STRONG = ("ebm", "random_forest", "xgboost")
METRICS = ("accuracy", "balanced_accuracy", "auc", "log_loss")
DRAWN = 2 / 3  # of the tables: the figure shows methods with at least this share
ENOUGH = 1.0  # points: a rule is enough where it is at most this far behind


def _complete(study: Study, method: str) -> list[FoldGroup]:
    """The groups of a method that have all folds."""
    groups = [group for group in study.groups.values() if group.method == method]
    return [group for group in groups if len(group.results) == FOLDS]


def _has_all_tables(study: Study, method: str) -> bool:
    return len(_complete(study, method)) == len(study.datasets)


def _metric(groups: Sequence[FoldGroup], metric: str) -> float | None:
    """The mean over the tables; None where one of them has no value."""
    means = [group.mean(metric) for group in groups]
    defined = [mean for mean in means if mean is not None]
    return fmean(defined) if defined and len(defined) == len(means) else None


def _symbols(groups: Sequence[FoldGroup]) -> float | None:
    """The geometric mean over the tables of the mean size; a model without a test counts as 1."""
    sizes = [[_size(row) for row in group.rows] for group in groups]
    known = [[size for size in folds if size is not None] for folds in sizes]
    if not groups or any(len(folds) < FOLDS for folds in known):
        return None
    return geometric_mean(max(fmean(folds), 1.0) for folds in known)


def _size(row: Row) -> int | None:
    """Symbols; None for an ensemble of version 0.2, which counted nodes."""
    model = row.result.model if row.result else None
    return row.model_size if model is None else model.get("symbols")


def _processor_s(row: Row) -> float:
    """Processor seconds; wall-clock seconds times threads where a scan may be of several runs."""
    done = row.result
    if done is None:
        return 0.0
    measured = None if done.formula else done.processor_s
    return done.seconds.total * row.threads if measured is None else measured


def _is_limited(row: Row) -> bool:
    """Whether a time limit ended the search for a formula or for an optimal tree."""
    if row.result is None:
        return False
    model = row.result.model or {}
    return is_cut(row.result) or model.get("claims_optimality") is False


# -------------------------------------------------------------------------------------- coverage


def coverage(study: Study) -> list[str]:
    """How many folds are finished, and which are missing."""
    datasets, methods = sweep_of(study.name)
    finished = {
        (group.dataset, group.method): len(group.results) for group in study.groups.values()
    }
    lines = [
        _progress(study),
        "",
        "| method | folds | missing | core-hours of the missing folds |",
        "|---|---:|---|---:|",
    ]
    for method in methods:
        counts = {dataset: finished.get((dataset, method), 0) for dataset in datasets}
        missing = [f"{name} ({FOLDS - n})" for name, n in counts.items() if n < FOLDS]
        names = "all" if not any(counts.values()) else ", ".join(missing) or "none"
        done = sum(counts.values())
        hours = _usual_hours(study, method)
        expected = hours and hours * (len(datasets) * FOLDS - done)
        lines.append(row(label(method), done, names, digits(expected)))
    return lines


def _progress(study: Study) -> str:
    datasets, methods = sweep_of(study.name)
    finished = sum(len(group.results) for group in study.groups.values())
    return f"{finished} of {len(methods) * len(datasets) * FOLDS} folds are finished."


def _usual_hours(study: Study, method: str) -> float | None:
    """Of one fold: the median over the tables of the mean over their finished folds."""
    groups = [group for group in study.groups.values() if group.method == method and group.results]
    means = [fmean(map(_processor_s, group.rows)) for group in groups]
    return median(means) / 3600 if means else None


# --------------------------------------------------------------------------------------- methods


def methods(study: Study) -> list[str]:
    """Every method over its complete tables; methods with all tables first, by accuracy."""
    lines = [
        "| method | tables | accuracy | balanced accuracy | AUC | log-loss | symbols "
        "| processor seconds per fold | limited folds |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    known = [method for method in study.methods if _complete(study, method)]
    known.sort(key=lambda method: -(_metric(_complete(study, method), "accuracy") or 0))
    known.sort(key=lambda method: not _has_all_tables(study, method))
    return [*lines, *(_method(study, method) for method in known)]


def _method(study: Study, method: str) -> str:
    groups = _complete(study, method)
    rows = [row for group in groups for row in group.rows]
    accuracy, balanced, auc, log_loss = (_metric(groups, metric) for metric in METRICS)
    return row(
        f"**{label(method)}**" if finds_formula(method) else label(method),
        len(groups),
        digits(None if accuracy is None else 100 * accuracy),
        digits(None if balanced is None else 100 * balanced),
        digits(auc, 3),
        digits(log_loss, 3),
        digits(_symbols(groups)),
        digits(median(map(_processor_s, rows)), 2),
        sum(map(_is_limited, rows)),
    )


def accuracies(study: Study) -> list[str]:
    """Mean test accuracy of every method on every table; the best of a table is bold."""
    names = [label(method) for method in study.methods]
    lines = [row("dataset", "majority", *names), row("---", *["---:"] * (1 + len(names)))]
    return [*lines, *(_accuracies(study, dataset) for dataset in study.datasets)]


def _accuracies(study: Study, dataset: str) -> str:
    groups = [study.groups.get((dataset, method)) for method in study.methods]
    means = [g.mean("accuracy") if g and len(g.results) == FOLDS else None for g in groups]
    shown = [None if mean is None else f"{100 * mean:.1f}" for mean in means]
    best = max((text for text in shown if text), key=float, default="")
    complete = [g for g in groups if g and len(g.results) == FOLDS]
    majority = next((g.majority for g in complete if g.majority is not None), None)
    cells = [NOTHING if text is None else f"**{text}**" if text == best else text for text in shown]
    return row(dataset, digits(None if majority is None else 100 * majority), *cells)


# --------------------------------------------------------------------------------------- against


def against(study: Study) -> list[str]:
    """Formulas against every other model: wins, ties and losses as `collect --compare` tests."""
    lines = [
        "| against | tables | wins | ties | losses | mean difference | p, Holm | their symbols "
        "| for each of the formula's |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    return [*lines, *map(_against, opponents(study))]


@dataclass(frozen=True, slots=True)
class Opponent:
    """Another model compared with the rule on the tables that both have."""

    method: str
    conclusions: tuple[str, ...]  # of each table: better, worse or neither
    mean: float  # the rule minus this model, in points
    p: float  # with Holm's correction
    symbols: float | None
    ratio: float | None  # its symbols for each of the rule's


def opponents(study: Study) -> list[Opponent]:
    """Every other model with complete tables."""
    chosen = [m for m in study.methods if m == RULE or not finds_formula(m)]
    groups = [group for method in chosen for group in _complete(study, method)]
    compared = Study(study.name, tuple(row for group in groups for row in group.rows))
    tested = significance.differences(compared, "accuracy")
    pairs = [p for p in significance.overall(compared.methods, tested) if p.first == RULE]
    adjusted = significance.holm([pair.p for pair in pairs])
    return [_opponent(study, tested, pair, p) for pair, p in zip(pairs, adjusted, strict=True)]


def _opponent(
    study: Study, tested: Sequence[significance.Difference], pair: significance.Overall, p: float
) -> Opponent:
    both = (pair.first, pair.second)
    own_tests = [d for d in tested if (d.first, d.second) == both]
    shared = {d.dataset_variant for d in own_tests}
    own, other = (
        _symbols([g for g in _complete(study, method) if g.dataset_variant in shared])
        for method in both
    )
    ratio = other / own if own and other else None
    conclusions = tuple(d.conclusion() for d in own_tests)
    return Opponent(pair.second, conclusions, pair.mean, p, other, ratio)


def _against(other: Opponent) -> str:
    tables = len(other.conclusions)
    wins, losses = other.conclusions.count("better"), other.conclusions.count("worse")
    return row(
        label(other.method),
        tables,
        *(wins, tables - wins - losses, losses),
        signed(other.mean),
        f"{other.p:.3f}",
        digits(other.symbols),
        digits(other.ratio),
    )


def summary(study: Study) -> list[str]:
    """The difference to every other model with at least as many tables as the formula method."""
    tables = len(_complete(study, RULE))
    known = [other for other in opponents(study) if len(other.conclusions) == tables]
    lines = [
        f"{_progress(study)} [Missing folds](#missing-folds) are listed below.",
        "",
        f"Mean differences of {label(RULE)} formulas over {counted(tables, 'table')}, "
        "significant if the corrected p-value is below 0.05:",
        "",
    ]
    return [*lines, *map(_sentence, sorted(known, key=lambda other: other.mean))]


def _sentence(other: Opponent) -> str:
    points = f"{abs(other.mean):.1f} points {'more' if other.mean > 0 else 'less'} accurate"
    is_significant = other.p < significance.LEVEL
    shorter = f"{other.ratio:.1f} times shorter and " if other.ratio else ""
    return (
        f"- {label(other.method)}: formulas are {shorter}{points} "
        f"({'significant' if is_significant else 'not significant'})."
    )


# ---------------------------------------------------------------------------------------- enough


@dataclass(frozen=True, slots=True)
class Cost:
    """Of one table, in points: what is known before a rule is used, and what the rule costs."""

    dataset: str
    gaps: dict[str, float]  # rule minus each simple model, on the validation rows
    cost: float  # rule minus the best strong model, on the test rows
    best: str
    size: float

    @property
    def gap(self) -> float:
        """Rule minus the best simple model."""
        return min(self.gaps.values())

    @property
    def is_predicted(self) -> bool:
        return self.gap >= -ENOUGH

    @property
    def is_enough(self) -> bool:
        return self.cost >= -ENOUGH


def costs(study: Study) -> list[Cost]:
    """Of every table with the rule, the simple models and at least one strong model."""
    found = (_cost(study, dataset) for dataset in study.datasets)
    return sorted((cost for cost in found if cost), key=lambda cost: -cost.gap)


def _cost(study: Study, dataset: str) -> Cost | None:
    groups = {
        method: group
        for method in (RULE, *SIMPLE, *STRONG)
        if (group := study.groups.get((dataset, method))) and len(group.results) == FOLDS
    }
    strong = {name: _points(groups[name], "test") for name in STRONG if name in groups}
    simple = [groups[name] for name in SIMPLE if name in groups]
    if RULE not in groups or not simple or not strong:
        return None
    rule, best = groups[RULE], max(strong, key=strong.__getitem__)
    validation = _points(rule, "validation")
    return Cost(
        dataset,
        {group.method: validation - _points(group, "validation") for group in simple},
        _points(rule, "test") - strong[best],
        best,
        fmean(float(row.model_size or 0) for row in rule.rows),
    )


def _points(group: FoldGroup, rows: str) -> float:
    return 100 * fmean(getattr(done.accuracy, rows) for done in group.results)


def enough(study: Study) -> list[str]:
    """For each table: what is known before a rule is used, and what the rule costs."""
    names = [f"rule minus {label(name)}, validation rows" for name in SIMPLE]
    lines = [
        row("dataset", *names, "rule minus the best strong model, test rows",
            "best strong model", "size of the rule", "one rule is enough", "predicted"),
        row("---", *["---:"] * (len(SIMPLE) + 1), "---", "---:", "---", "---"),
    ]  # fmt: skip
    known = costs(study)
    for cost in known:
        gaps = [signed(cost.gaps[n]) if n in cost.gaps else NOTHING for n in SIMPLE]
        answers = ["yes" if is_so else "no" for is_so in (cost.is_enough, cost.is_predicted)]
        lines.append(
            row(cost.dataset, *gaps, signed(cost.cost), label(cost.best), f"{cost.size:.1f}",
                *answers)
        )  # fmt: skip
    return [*lines, "", *_agreement(known)] if known else lines


def _agreement(known: Sequence[Cost]) -> list[str]:
    """How well the gap on the validation rows predicts the cost."""
    from scipy.stats import spearmanr

    right = sum(cost.is_predicted == cost.is_enough for cost in known)
    lines = [
        f"- A rule is enough where it is at most {ENOUGH:g} point behind the best strong model. "
        f"This holds on {sum(c.is_enough for c in known)} of {len(known)} tables.",
        f"- It is predicted where the rule is at most {ENOUGH:g} point behind the better simple "
        f"model on the validation rows. The prediction is right on {right} of {len(known)} tables.",
        f"- Where it is predicted, the rule costs {_mean_cost(known, True)}; elsewhere "
        f"{_mean_cost(known, False)}.",
    ]
    if len(known) > 5:
        rank = spearmanr([cost.gap for cost in known], [cost.cost for cost in known])
        lines.append(
            f"- Spearman's rank correlation of gap and cost: {rank.statistic:.2f} "
            f"(p = {rank.pvalue:.3f})."
        )
    return lines


def _mean_cost(known: Sequence[Cost], is_predicted: bool) -> str:
    chosen = [-cost.cost for cost in known if cost.is_predicted is is_predicted]
    if not chosen:
        return "nothing, as there is no such table"
    return f"{signed(fmean(chosen))} points on average ({counted(len(chosen), 'table')})"


# --------------------------------------------------------------------------------------- limited


def limited(study: Study) -> list[str]:
    """Which fits a time limit ended, and the processor hours of all fits."""
    lines = ["| method | tables with limited folds | folds |", "|---|---|---:|"]
    for method in study.methods:
        groups = [group for group in study.groups.values() if group.method == method]
        counts = {group.dataset: sum(map(_is_limited, group.rows)) for group in groups}
        names = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        if names:
            lines.append(row(label(method), names, sum(counts.values())))
    hours = sum(map(_processor_s, study.rows)) / 3600
    return [*lines, "", f"All finished fits together took {hours:.1f} processor hours."]


# ---------------------------------------------------------------------------------------- figure


def draw(study: Study, path: Path, is_dark: bool = False) -> None:
    """Mean accuracy over the tables against the size of the models."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    style: Any = "dark_background" if is_dark else "default"
    with plt.style.context(style), plt.rc_context({"svg.hashsalt": "peers"}):
        figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
        points, tables = _drawn(study)
        _draw_points(axes, points)
        axes.set_xlabel("symbols of the model (geometric mean over the tables, logarithmic)")
        axes.set_ylabel(f"test accuracy (%), mean over {tables} tables")
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
        kind = path.suffix.removeprefix(".")
        metadata = {"Date": None} if kind == "svg" else None
        figure.savefig(path, format=kind, dpi=120, metadata=metadata)
        plt.close(figure)


Point = tuple[float, float, str]  # symbols, accuracy in percent, method


def _drawn(study: Study) -> tuple[list[Point], int]:
    """The methods with most tables, and the number of tables that all of these have.

    The means are over these tables, so that points can be compared.
    """
    complete = {method: _complete(study, method) for method in study.methods}
    least = DRAWN * len(study.datasets)
    shown = {method: groups for method, groups in complete.items() if len(groups) >= least}
    tables = set(study.datasets).intersection(
        *({group.dataset for group in groups} for groups in shown.values())
    )
    points = []
    for method, groups in shown.items():
        shared = [group for group in groups if group.dataset in tables]
        symbols, accuracy = _symbols(shared), _metric(shared, "accuracy")
        if symbols is not None and accuracy is not None:
            points.append((symbols, 100 * accuracy, method))
    return points, len(tables)


def _draw_points(axes: Any, points: Sequence[Point]) -> None:
    from matplotlib.ticker import LogLocator, NullLocator

    for symbols, accuracy, method in points:
        colour, marker = ("#D55E00", "s") if finds_formula(method) else ("#56B4E9", "o")
        axes.scatter(symbols, accuracy, s=38, color=colour, marker=marker)
    axes.set_xscale("log")
    axes.margins(x=0.15, y=0.08)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_locator(NullLocator())
    _label_points(axes, points)


def _label_points(axes: Any, points: Sequence[Point]) -> None:
    """A label right of each point, moved up where it would cover another label."""
    values = [accuracy for _, accuracy, _ in points]
    height = (max(values, default=1.0) - min(values, default=0.0) or 1.0) / 22
    labels: list[tuple[float, float]] = []
    for symbols, accuracy, method in sorted(points, key=lambda point: point[1]):
        level = accuracy
        while any(abs(level - y) < height and 1 / 3 < symbols / x < 3 for x, y in labels):
            level += height / 4
        labels.append((symbols, level))
        axes.annotate(
            label(method), (symbols, accuracy), (symbols * 1.07, level), va="center", fontsize=8
        )


# ------------------------------------------------------------------------------------------ page

TABLES: dict[str, Callable[[Study], list[str]]] = {
    "summary": summary,
    "coverage": coverage,
    "methods": methods,
    "accuracy": accuracies,
    "against": against,
    "enough": enough,
    "limited": limited,
}


def blocks(results: Path, name: str = "peers") -> dict[str, Block]:
    """Every table by its name in the page."""
    study = read(results, name)
    tables: dict[str, Block] = {name: partial(table, study) for name, table in TABLES.items()}
    return tables | {"factors": partial(factors.block, results)}


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--results", type=Path, default=ROOT / "results")
    parser.add_argument("--study", default="peers")
    parser.add_argument("--write", action="store_true", help=f"into docs/{PAGE.name}")
    parser.add_argument("--figure", type=Path, help="an SVG or PNG file")
    parser.add_argument("--dark", action="store_true", help="on a dark background")
    given = parser.parse_args(None if arguments is None else list(arguments))
    if given.figure is not None:
        draw(read(given.results, given.study), given.figure, given.dark)
    elif given.write:
        draw(read(given.results, given.study), FIGURE)
        page = rewritten(PAGE.read_text(encoding="utf-8"), blocks(given.results, given.study))
        PAGE.write_text(page, encoding="utf-8")
    else:
        for name, table in blocks(given.results, given.study).items():
            print(f"{name}\n\n" + "\n".join(table()) + "\n")


if __name__ == "__main__":
    main()
