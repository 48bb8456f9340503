"""The tables of docs/explanation/optimality.md from the kept results of `benchmarks.optimality`."""

from __future__ import annotations

from textwrap import wrap

from benchmarks.optimality_packages import PACKAGES
from benchmarks.result_cache import Results
from benchmarks.small_tables import Question


def results(kept: Results) -> list[str]:
    """The counts of each package, and the reasons of failures."""
    names = [package.name for package in PACKAGES if package.name in kept]
    missing = [package.name for package in PACKAGES if package.name not in kept]
    lines = [*_table(names, kept), "", *_failures(names, kept)]
    if missing:
        lines += [f"Not installed when this table was made: {', '.join(missing)}.", ""]
    return lines[:-1]


def reproducers(kept: Results) -> list[str]:
    """The smallest wrong answer of each package."""
    names = [package.name for package in PACKAGES if kept.get(package.name, {}).get("reproducer")]
    lines = [line for name in names for line in _reproducer(name, kept[name])]
    return lines[:-1] if lines else ["There is none."]


def _table(names: list[str], kept: Results) -> list[str]:
    seeds = sorted({str(kept[name]["seed"]) for name in names})
    pythons = sorted({kept[name]["python"] for name in names})
    lines = [
        f"First seed {', '.join(seeds)}; Python {', '.join(pythons)}.",
        "",
        "| package | version | call | tables | questions | right | wrong | failed | timed out "
        "| wrong again, alone |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name in names:
        one = kept[name]
        counts = [one["counts"].get(key, 0) for key in ("right", "wrong", "failed", "timed out")]
        again = str(one["wrong again"])
        numbers = " | ".join(map(str, (one["tables"], one["questions"], *counts)))
        version, call = one["version"], one["call"].replace("|", "\\|")
        lines.append(f"| {name} | {version} | `{call}` | {numbers} | {again} |")
    return lines


def _failures(names: list[str], kept: Results) -> list[str]:
    lines = [
        f"- {name}: {count} times `{reason}`"
        for name in names
        for reason, count in kept[name]["failures"].items()
    ]
    return ["Failures:", "", *lines, ""] if lines else []


def _reproducer(name: str, results: Results) -> list[str]:
    """Table, arguments, and what came back, as text that can be pasted."""
    one = results["reproducer"]
    question = Question.of(one["question"])
    bound = "size" if question.method else "depth"
    penalty = f", P = {question.penalty:g}" if question.penalty else ""
    return [
        f"### {name} {results['version']}",
        "",
        "```python",
        f"X = {[list(row) for row in question.rows]}",
        f"y = {list(question.labels)}",
        f"# {results['call']}, {bound} {question.bound}{penalty}",
        f"# predictions: {one['answer']['predictions']}",
        f"# errors of the model: {question.errors(one['answer']['predictions'])}",
        f"# reported: {one['answer']['reported']}",
        f"# optimum: {one['optimum']:g}",
        "```",
        "",
        *wrap(f"In words: {one['mistake']}.", 100),
        "",
    ]
