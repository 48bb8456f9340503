"""Formulas beside the models that people use today: tables and a figure of `+experiment=peers`.

    python -m benchmarks.peers --results FOLDER          print the tables
    python -m benchmarks.peers --results FOLDER --figure FILE    draw accuracy against size

Everything comes from the results of the study; nothing is run. A study that is not finished is
shown as far as it has come.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import fmean, geometric_mean

from benchmarks.study_tables import NOTHING, digits, is_cut, read, row, signed
from fsm_hpc.report import significance
from fsm_hpc.report.collect import (
    FoldGroup,
    Row,
    Study,
    finds_formula,
    label,
    mean_of_defined,
)

FORMULAS = "pivot"  # the formula method that peers are compared with
ADDITIVE = "logistic_regression"  # the simplest additive model: what `fit` compares a rule with
STRONG = ("ebm", "random_forest", "xgboost")
METRICS = ("accuracy", "balanced_accuracy", "auc", "log_loss")


def _groups(study: Study, method: str) -> list[FoldGroup]:
    return [group for group in study.groups.values() if group.method == method and group.results]


def _metric(study: Study, method: str, metric: str) -> float | None:
    """The mean over the tables of the mean over the folds."""
    return mean_of_defined(group.mean(metric) for group in _groups(study, method))


def _symbols(study: Study, method: str) -> float:
    """The geometric mean over the tables of the mean size; a model without a test counts as 1."""
    means = [
        fmean(float(row.model_size or 0) for row in group.rows) for group in _groups(study, method)
    ]
    return geometric_mean(max(mean, 1.0) for mean in means)


def _processor_s(rows: Iterable[Row]) -> float:
    """Of a formula, which a solver searched with all threads, the seconds of all of them."""
    return sum(
        row.result.processor_s or row.result.seconds.total * row.threads
        for row in rows
        if row.result is not None
    )


def _is_limited(row: Row) -> bool:
    """Whether a time limit ended the search for a formula, or for an optimal tree."""
    if row.result is None:
        return False
    model = row.result.model or {}
    return is_cut(row.result) or model.get("claims_optimality") is False


# --------------------------------------------------------------------------------------- methods


def methods(study: Study) -> list[str]:
    """Every method over all tables, the most accurate first."""
    lines = [
        "| method | accuracy | balanced accuracy | AUC | log-loss | symbols "
        "| processor seconds per fold | folds | limited by time |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    order = sorted(study.methods, key=lambda one: -(_metric(study, one, "accuracy") or 0))
    return [*lines, *(_method(study, method) for method in order)]


def _method(study: Study, method: str) -> str:
    rows = [row for group in _groups(study, method) for row in group.rows if row.result]
    accuracy, balanced, auc, log_loss = (_metric(study, method, metric) for metric in METRICS)
    return row(
        f"**{label(method)}**" if finds_formula(method) else label(method),
        digits(None if accuracy is None else 100 * accuracy),
        digits(None if balanced is None else 100 * balanced),
        digits(auc, 3),
        digits(log_loss, 3),
        f"{_symbols(study, method):.1f}",
        f"{_processor_s(rows) / len(rows):.2f}",
        len(rows),
        sum(map(_is_limited, rows)),
    )


def accuracies(study: Study) -> list[str]:
    """Mean test accuracy of every method on every table; the best of a table is bold."""
    names = [label(method) for method in study.methods]
    lines = [row("dataset", "majority", *names), row("---", *["---:"] * (1 + len(names)))]
    return [*lines, *(_accuracies(study, dataset) for dataset in study.datasets)]


def _accuracies(study: Study, dataset: str) -> str:
    groups = [study.groups.get((dataset, method)) for method in study.methods]
    shares = [group.mean("accuracy") if group else None for group in groups]
    shown = [None if share is None else f"{100 * share:.1f}" for share in shares]
    best = max((text for text in shown if text), key=float)
    majority = next(group.majority for group in groups if group and group.majority is not None)
    cells = [NOTHING if text is None else f"**{text}**" if text == best else text for text in shown]
    return row(dataset, f"{100 * majority:.1f}", *cells)


# ---------------------------------------------------------------------------------------- against


def against(study: Study) -> list[str]:
    """The formulas against every other model: on how many tables one is ahead beyond noise."""
    lines = [
        "| against | wins | ties | losses | mean difference | p, Holm | their symbols "
        "| for each of the formula's |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    tested = significance.differences(study, "accuracy")
    overall = significance.overall(study.methods, tested)
    own_symbols = _symbols(study, FORMULAS)
    for one in overall:
        if one.first != FORMULAS or finds_formula(one.second):
            continue
        judged = [d.conclusion() for d in tested if (d.first, d.second) == (one.first, one.second)]
        wins, losses = judged.count("better"), judged.count("worse")
        symbols = _symbols(study, one.second)
        ties = len(judged) - wins - losses
        lines.append(
            row(label(one.second), wins, ties, losses, signed(one.mean), f"{one.adjusted:.3f}",
                f"{symbols:.1f}", f"{symbols / own_symbols:.1f}")
        )  # fmt: skip
    return lines


# ----------------------------------------------------------------------------------------- enough


def enough(study: Study) -> list[str]:
    """For each table: what a rule costs in accuracy, beside what can be known before it is used.

    Known before: the rule minus logistic regression on the validation rows, which are those that
    lengths and parameters are chosen on. What it costs: the rule minus the best of the strong
    models on the test rows.
    """
    lines = [
        "| dataset | rule minus logistic regression, validation rows "
        "| rule minus the best strong model, test rows | best strong model | size of the rule |",
        "|---|---:|---:|---|---:|",
    ]
    found = [one for dataset in study.datasets if (one := _cost(study, dataset)) is not None]
    for known, cost, dataset, best, size in sorted(found, reverse=True):
        lines.append(row(dataset, signed(known), signed(cost), label(best), f"{size:.1f}"))
    return [*lines, "", *_agreement([(known, cost) for known, cost, *_ in found])]


def _cost(study: Study, dataset: str) -> tuple[float, float, str, str, float] | None:
    groups = {method: study.groups.get((dataset, method)) for method in study.methods}
    rule, additive = groups.get(FORMULAS), groups.get(ADDITIVE)
    strong = {name: test for name in STRONG if (test := _points(groups.get(name), "test"))}
    if rule is None or additive is None or not strong:
        return None
    best = max(strong, key=lambda name: strong[name])
    known = _points(rule, "validation") - _points(additive, "validation")
    sizes = fmean(float(one.model_size or 0) for one in rule.rows)
    return known, _points(rule, "test") - strong[best], dataset, best, sizes


def _points(group: FoldGroup | None, rows: str) -> float:
    if group is None or not group.results:
        return 0.0
    return 100 * fmean(getattr(done.accuracy, rows) for done in group.results)


def _agreement(pairs: Sequence[tuple[float, float]]) -> list[str]:
    """How well the figure that is known before predicts the cost."""
    from scipy.stats import spearmanr

    found = spearmanr(*zip(*pairs, strict=True))
    ahead = [cost for known, cost in pairs if known >= 0]
    behind = [cost for known, cost in pairs if known < 0]
    return [
        f"Spearman's rank correlation of the two columns: {found.statistic:.2f} (p = "
        f"{found.pvalue:.3f}, {len(pairs)} tables). Where the rule is not behind logistic "
        f"regression on the validation rows ({len(ahead)} tables) it is on average "
        f"{_cost_words(ahead)}; elsewhere ({len(behind)} tables) {_cost_words(behind)}."
    ]


def _cost_words(costs: Sequence[float]) -> str:
    if not costs:
        return "not measured"
    side = "behind" if fmean(costs) < 0 else "ahead of"
    return f"{abs(fmean(costs)):.1f} points {side} the best strong model"


# ----------------------------------------------------------------------------------------- limited


def limited(study: Study) -> list[str]:
    """Which fits their time limit ended, and the processor hours of everything."""
    lines = ["| method | tables with fits that the limit ended | folds |", "|---|---|---:|"]
    for method in study.methods:
        counts = {
            group.dataset: sum(map(_is_limited, group.rows)) for group in _groups(study, method)
        }
        names = ", ".join(f"{name} ({count})" for name, count in counts.items() if count)
        if names:
            lines.append(row(label(method), names, sum(counts.values())))
    hours = _processor_s(study.rows) / 3600
    return [*lines, "", f"All fits together took {hours:.1f} processor hours."]


# ------------------------------------------------------------------------------------------ figure


def draw(study: Study, path: Path) -> None:
    """Mean accuracy over the tables against the size of the models."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "peers"  # the same bytes on every run
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
    points = [
        (_symbols(study, method), 100 * (_metric(study, method, "accuracy") or 0), method)
        for method in study.methods
        if len(_groups(study, method)) == len(study.datasets)  # or its mean is of other tables
    ]
    for symbols, accuracy, method in points:
        is_formula = finds_formula(method)
        colour, marker = ("#D55E00", "s") if is_formula else ("#0072B2", "o")
        axes.scatter(symbols, accuracy, s=38, color=colour, marker=marker)
    _name_points(axes, points)
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.xaxis.set_minor_formatter("{x:g}")
    axes.set_xlabel("symbols of the model (geometric mean over the tables, logarithmic)")
    axes.set_ylabel("test accuracy (%), mean over the tables")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def _name_points(axes: object, points: Sequence[tuple[float, float, str]]) -> None:
    """A name right of each point, moved up where it would cover the name below."""
    lowest = min(accuracy for _, accuracy, _ in points)
    height = (max(accuracy for _, accuracy, _ in points) - lowest or 1.0) / 22
    taken: list[tuple[float, float]] = []
    for symbols, accuracy, method in sorted(points, key=lambda point: point[1]):
        level = accuracy
        while any(
            abs(level - other) < height and 1 / 3 < symbols / place < 3 for place, other in taken
        ):
            level += height / 4
        taken.append((symbols, level))
        axes.annotate(  # type: ignore[attr-defined]
            label(method), (symbols, accuracy), (symbols * 1.07, level), va="center", fontsize=8
        )


TABLES = {
    "methods": methods,
    "accuracy": accuracies,
    "against": against,
    "enough": enough,
    "limited": limited,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--results", type=Path, default=Path("results"))
    parser.add_argument("--study", default="peers")
    parser.add_argument("--figure", type=Path)
    given = parser.parse_args()
    study = read(given.results, given.study)
    if given.figure is not None:
        draw(study, given.figure)
        return
    needed = {"against": [FORMULAS], "enough": [FORMULAS, ADDITIVE, *STRONG]}
    for name, table in TABLES.items():
        missing = [label(method) for method in needed.get(name, []) if not _groups(study, method)]
        if missing:
            print(f"{name}: no fold of {', '.join(missing)} is finished\n")
            continue
        print(f"{name}\n\n" + "\n".join(table(study)) + "\n")


if __name__ == "__main__":
    main()
