"""Draw the figures of a study, one function for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from statistics import fmean, pstdev
from typing import Any

from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.report.collect import DatasetVariant, FoldGroup, Row, Study, label
from fsm_hpc.report.tables import paper
from fsm_hpc.study.measures import METRICS

# Okabe and Ito's colours for every kind of colour vision; hatches and markers help.
COLOURS = {
    "median": "#0072B2",
    "pivot": "#E69F00",
    "interval": "#009E73",
    "random_forest": "#CC79A7",
    "xgboost": "#56B4E9",
}
HATCHES = {"median": "", "pivot": "//", "interval": "..", "random_forest": "xx", "xgboost": "\\\\"}
MARKERS = {"median": "o", "pivot": "s", "interval": "^", "random_forest": "D", "xgboost": "v"}
SHAPES = ("o", "s", "^", "D", "v", "P", "*", "X", "<", ">", "p", "h")  # of datasets
OTHER = "#777777"


def accuracy(study: Study, with_paper: bool = False, metric: str = "accuracy") -> Any:
    """Grouped bars as in the paper: mean and deviation of a measure for each dataset."""
    methods, datasets = study.methods, study.dataset_variants
    thickness = 0.8 / len(methods)
    figure, axes = _axes(6.4, 1.2 + 0.17 * (len(methods) + 1) * len(datasets))
    positions = positions_of(study, thickness, metric)
    for method, groups in positions.items():
        _bars(axes, groups, thickness, method, metric)
    if with_paper and metric == "accuracy":
        _paper_marks(axes, positions)
    axes.set_yticks(range(len(datasets)), [_plain(str(name)) for name in datasets])
    axes.set_ylim(len(datasets) - 0.5, -0.5)
    axes.set_xlim(0, 116)
    axes.set_xticks(range(0, 101, 20))
    text = f"test {words_of(metric)} ({_unit(metric)}), mean and standard deviation over folds"
    is_complete = study.counts[FoldState.DONE] == len(study.rows)
    hint = "" if is_complete else "\n* some folds are missing, unproved or timed out"
    axes.set_xlabel(text + hint)
    axes.grid(visible=False, axis="y")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def words_of(metric: str) -> str:
    """The name of a measure on an axis."""
    return METRICS[metric].label


def _unit(metric: str) -> str:
    unit = METRICS[metric].unit
    return "%" if unit == "percent" else unit


Positions = Sequence[tuple[float, FoldGroup]]  # positions of the groups of one method on an axis


def positions_of(study: Study, step: float, metric: str = "accuracy") -> dict[str, Positions]:
    """Positions by method; the groups of a dataset are centred on its label."""
    positions: dict[str, list[tuple[float, FoldGroup]]] = {method: [] for method in study.methods}
    for row, key in enumerate(study.dataset_variants):
        groups = [study.group(key, method) for method in study.methods]
        measured = [group for group in groups if group is not None and percents(group, metric)]
        for number, group in enumerate(measured):
            position = row + (number - (len(measured) - 1) / 2) * step
            positions[group.method].append((position, group))
    return {**positions}


def _bars(
    axes: Any,
    groups: Positions,
    thickness: float,
    method: str,
    metric: str,
) -> None:
    shares = [percents(group, metric) for _, group in groups]
    values = [(fmean(folds), pstdev(folds)) for folds in shares]
    for (position, group), value in zip(groups, values, strict=True):
        _print_value(axes, position, value, group)
    axes.barh(
        [position for position, _ in groups],
        [mean for mean, _ in values],
        thickness * 0.92,
        xerr=[spread for _, spread in values],
        label=label(method),
        color=COLOURS.get(method, OTHER),
        hatch=HATCHES.get(method, ""),
        edgecolor="white",
        linewidth=0,
        error_kw={"elinewidth": 0.8, "capsize": 1.5, "ecolor": "black"},
    )


def _print_value(axes: Any, position: float, value: tuple[float, float], group: FoldGroup) -> None:
    is_complete = group.counts[FoldState.DONE] == len(group.rows)
    text = f"{value[0]:.1f} ± {value[1]:.1f}" + ("  " if is_complete else " *")
    axes.text(116, position, text, va="center", ha="right", fontsize=6.5)


def _paper_marks(axes: Any, positions: Mapping[str, Positions]) -> None:
    marks = [
        (paper.accuracy().get((group.dataset, method)), position)
        for method, groups in positions.items()
        for position, group in groups
    ]
    axes.plot(
        [printed[0] for printed, _ in marks if printed],
        [position for printed, position in marks if printed],
        linestyle="",
        marker="|",
        color="black",
        markersize=5,
        markeredgewidth=1.6,
        label="the paper",
    )


def accuracy_against_size(study: Study, metric: str = "accuracy") -> Any:
    """The measure of every fold against the size of its model."""
    figure, axes = _axes(6.4, 4.4)
    shapes = dict(zip(study.dataset_variants, cycle(SHAPES), strict=False))
    for number, method in enumerate(study.methods):
        shift = 1.08 ** (number - len(study.methods) / 2)  # so that methods do not hide each other
        for key, sizes, shares in _sized(study, method, metric):
            axes.scatter(
                [size * shift for size in sizes],
                shares,
                s=22,
                marker=shapes[key],
                color=COLOURS.get(method, OTHER),
                alpha=0.7,
                linewidths=0,
            )
    axes.set_xscale("log")
    _plain_numbers(axes.xaxis)
    axes.set_xlabel("size: symbols of a formula, nodes of an ensemble (methods set slightly apart)")
    axes.set_ylabel(f"test {words_of(metric)} of a fold ({_unit(metric)})")
    colours = {label(method): ("o", COLOURS.get(method, OTHER)) for method in study.methods}
    names = {_plain(str(key)): (shape, OTHER) for key, shape in shapes.items()}
    figure.legend(handles=_keys(colours), loc="outside upper center", ncols=len(colours))
    figure.legend(handles=_keys(names), loc="outside lower center", ncols=4)
    return figure


def _sized(
    study: Study, method: str, metric: str
) -> Iterator[tuple[DatasetVariant, list[int], list[float]]]:
    """For each dataset the sizes of the models of a method, and their measures."""
    for key in study.dataset_variants:
        group = study.group(key, method)
        if group is None:
            continue
        shares = group.shares(metric)
        measured = [(row.model_size, shares.get(row.id.fold)) for row in group.rows]
        points = [(size, 100 * share) for size, share in measured if size and share is not None]
        if points:
            yield key, [size for size, _ in points], [share for _, share in points]


def _keys(marks: Mapping[str, tuple[str, str]]) -> list[Any]:
    """Entries of a legend from names with marker and colour."""
    from matplotlib.lines import Line2D

    style: Any = {"linestyle": "", "markersize": 5, "markeredgewidth": 0}
    return [
        Line2D([], [], marker=marker, color=colour, label=name, **style)
        for name, (marker, colour) in marks.items()
    ]


def runtime(study: Study, with_paper: bool = False) -> Any:
    """Seconds per fold on a log scale: folds as small markers, means as large ones."""
    figure, axes = _axes(6.4, 3.6)
    step = 0.7 / max(1, len(study.methods) - 1)
    for method, groups in positions_of(study, step).items():
        is_last = method == study.methods[-1]
        _runtime_points(axes, groups, method)
        if with_paper:
            printed = [paper.seconds().get((group.dataset, method)) for _, group in groups]
            axes.plot(
                [position for position, _ in groups],
                [seconds or float("nan") for seconds in printed],
                linestyle="",
                marker="_",
                markeredgewidth=1.6,
                color="black",
                label="the paper" if is_last else None,
            )
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis)
    names = [_plain(str(key)) for key in study.dataset_variants]
    axes.set_xticks(range(len(names)), names, rotation=20, ha="right")
    axes.set_xlim(-0.5, len(names) - 0.5)
    axes.set_ylabel("seconds per fold (small: each, large: average)")
    figure.legend(loc="outside upper center", ncols=6, fontsize=8, columnspacing=1)
    return figure


def _runtime_points(axes: Any, groups: Positions, method: str) -> None:
    style = {
        "color": COLOURS.get(method, OTHER),
        "marker": MARKERS.get(method, "."),
        "linestyle": "",
    }
    times = [[done.seconds.total for done in group.results] for _, group in groups]
    for (position, _), seconds in zip(groups, times, strict=True):
        axes.plot([position] * len(seconds), seconds, markersize=2.5, alpha=0.4, **style)
    positions, means = [position for position, _ in groups], [fmean(seconds) for seconds in times]
    axes.plot(positions, means, markersize=6, label=label(method), **style)


def cactus(study: Study) -> Any:
    """How many lengths of all folds were proved within a number of seconds."""
    figure, axes = _axes(6.4, 4)
    for method, variant, style in _curves(study):
        times = sorted(
            entry["seconds"]
            for row in study.rows
            if (row.method, row.variant) == (method, variant)
            for entry in row.lengths
            if entry.get("proved")
        )
        if times:
            axes.plot(
                range(1, len(times) + 1),
                [max(seconds, 1e-3) for seconds in times],
                drawstyle="steps-post",
                color=COLOURS.get(method, OTHER),
                marker=MARKERS.get(method, "."),
                markersize=4,
                markevery=max(1, len(times) // 12),
                linestyle=style,
                label=f"{label(method)}, {variant}" if variant else label(method),
            )
    axes.set_yscale("log")
    _plain_numbers(axes.yaxis)
    axes.set_xlabel("lengths proved (all datasets and folds)")
    axes.set_ylabel("seconds for a length")
    figure.legend(loc="outside upper center", ncols=3)
    return figure


def _curves(study: Study) -> Iterator[tuple[str, str, str]]:
    """Each method and variant, with the line style of the variant."""
    styles = dict(zip(study.variants, cycle(("-", "--", ":", "-.")), strict=False))
    for method in study.methods:
        for variant, style in styles.items():
            yield method, variant, style


def lengths(group: FoldGroup) -> Any:
    """Training and validation accuracy against length, one panel per fold."""
    import matplotlib.pyplot as plt

    rows = [row for row in group.rows if row.lengths]
    across = min(5, len(rows))
    down = -(-len(rows) // across)
    figure, grid = plt.subplots(
        down,
        across,
        figsize=(1.9 * across + 0.6, 1.7 * down + 0.7),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    panels = list(grid.flat)
    for axes, row in zip(panels, rows, strict=False):
        _length_panel(axes, row)
    for axes in panels[len(rows) :]:
        axes.set_visible(False)
    figure.supxlabel("length bound (symbols)", fontsize=9)
    figure.supylabel("accuracy (%)", fontsize=9)
    handles, names = panels[0].get_legend_handles_labels()
    title = f"{_plain(str(group.dataset_variant))}, {label(group.method)}"
    figure.legend(handles, names, loc="outside upper center", ncols=3, title=title)
    return figure


def _length_panel(axes: Any, row: Row) -> None:
    from matplotlib.ticker import MaxNLocator

    steps = [entry["length"] for entry in row.lengths]
    for name, marker, colour in (
        ("train", "o", COLOURS["median"]),
        ("validation", "s", COLOURS["pivot"]),
    ):
        values = [100 * entry[f"{name}_accuracy"] for entry in row.lengths]
        word = "training" if name == "train" else name
        axes.plot(steps, values, marker=marker, markersize=3, linewidth=1, color=colour, label=word)
    chosen = row.result.length_bound if row.result else None
    axes.axvline(
        chosen if chosen is not None else float("nan"),
        color="black",
        linestyle="--",
        linewidth=0.9,
        label="chosen length",
    )
    is_done = row.state is FoldState.DONE
    axes.set_title(f"fold {row.fold}" + ("" if is_done else f" ({row.state.value})"), fontsize=8)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=6))


def percents(group: FoldGroup, metric: str) -> list[float]:
    """A measure of every fold in which it is defined."""
    return [100 * share for share in group.shares(metric).values() if share is not None]


def _plain(text: str) -> str:
    """Text that matplotlib prints as it is."""
    return text.encode(errors="backslashreplace").decode().replace("$", r"\$")


def _plain_numbers(axis: Any) -> None:
    """Print `0.1`, `10`, `200` on a log scale; powers of ten only, except on short axes."""
    from matplotlib.ticker import LogFormatter

    def plain(value: float, _: int | None) -> str:
        return f"{value:g}"

    class Few(LogFormatter):
        def __call__(self, value: float, pos: int | None = None) -> str:
            return plain(value, pos) if super().__call__(value, pos) else ""

    axis.set_major_formatter(plain)
    axis.set_minor_formatter(Few(labelOnlyBase=False, minor_thresholds=(1.5, 0.4)))


def _axes(width: float, height: float) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height))
