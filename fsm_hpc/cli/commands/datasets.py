"""The command datasets: list, describe and download datasets."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Command, Group
from fsm_hpc.data import fetch
from fsm_hpc.data.dataset import load
from fsm_hpc.data.facts import Entry, columns, summary
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.text import number
from fsm_hpc.study import keys
from fsm_hpc.study.compose import compose_any
from fsm_hpc.study.config import Config
from fsm_hpc.study.config_folders import names_in
from fsm_hpc.system import terminal
from fsm_hpc.system.numbers import counted

_EXPECTED = "datasets, datasets show NAME or datasets fetch NAME"
_SHOWN_CATEGORIES = 12
_COUNTS = {  # headings of the overview, and their values
    "dataset": "name",
    ">rows": "rows",
    ">numeric": "numeric",
    ">Boolean": "boolean",
    ">categorical": "categorical",
    ">one-hot": "columns",
}


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """List the datasets, describe one, or download those that are not installed."""
    overrides = [argument for argument in arguments if "=" in argument]
    keys.check_used(overrides, keys.OF_TABLE, "datasets")
    what, *names = [argument for argument in arguments if argument not in overrides] or ["list"]
    if what == "list" and not names:
        _list(overrides, flags.json)
    elif what == "show" and len(names) == 1:
        _show(names[0], overrides, flags.json)
    elif what == "fetch" and len(names) <= 1:
        _fetch(names, overrides)
    else:
        raise UserError(f"expected {_EXPECTED}, found: datasets {' '.join([what, *names])}")
    return 0


def _list(overrides: Sequence[str], as_json: bool) -> None:
    entries = [summary(_entry(_config(name, overrides))) for name in _named()]
    if as_json:
        print(json.dumps(entries, indent=1, ensure_ascii=False))
        return
    console = terminal.console()
    counts = [[str(entry.get(key, "-")) for key in _COUNTS.values()] for entry in entries]
    balances = [_balance(entry) if entry["is_here"] else "not installed" for entry in entries]
    rows = [[*count, balance] for count, balance in zip(counts, balances, strict=True)]
    console.print(terminal.table((*_COUNTS, "true"), rows))
    console.print()
    origins = [[e["name"], e["source"], e["licence"], _path(e)] for e in entries]
    console.print(terminal.table(("dataset", "source", "licence", "path"), origins))
    console.print()
    for problem in filter(None, (entry.get("problem") for entry in entries)):
        console.print(problem, style="yellow", soft_wrap=True)
    console.print(
        "Your own table: dataset=csv dataset.path=my.csv dataset.target=label", style="dim"
    )


def _show(name: str, overrides: Sequence[str], as_json: bool) -> None:
    config = _config(name, overrides)
    dataset = load(config.dataset, config.data_dir, config.allow_changed_data)
    facts, in_file = summary(Entry(config.dataset, dataset)), columns(dataset)
    if as_json:
        full = {**facts, "columns_in_file": in_file, "notes": list(dataset.notes)}
        print(json.dumps(full, indent=1, ensure_ascii=False))
        return
    console = terminal.console()
    lines = [line for line in _facts(facts).items() if line[1]]
    console.print(terminal.table(("", ""), lines))
    console.print()
    rows = [(c["name"], c["kind"], str(c["distinct"]), _values(c, dataset.rows)) for c in in_file]
    headings = ("column", "kind", ">distinct", "range, or rows of each value")
    console.print(terminal.table(headings, rows))
    for note in dataset.notes:
        console.print(f"- {note}")


def _fetch(names: Sequence[str], overrides: Sequence[str]) -> None:
    chosen = names or [n for n in _named() if _config(n, overrides).dataset.url]
    for name in chosen:
        config = _config(name, overrides)
        entry = _entry(config)
        if entry.dataset is not None:
            print(f"{name} is installed: {entry.dataset.path} ({entry.dataset.place})")
            continue
        if config.dataset.url is None:
            raise UserError(str(entry.problem))
        path = fetch.fetch(config.dataset)
        rows = load(config.dataset, path.parent).rows
        print(f"{name}: {counted(rows, 'row')}, SHA-256 verified, stored in {path}")


def _named() -> list[str]:
    """All datasets but csv, which is any table."""
    return [name for name in names_in("dataset") if name != "csv"]


def _config(name: str, overrides: Sequence[str]) -> Config:
    return compose_any([f"dataset={name}", *overrides])


def _entry(config: Config) -> Entry:
    try:
        return Entry(
            config.dataset, load(config.dataset, config.data_dir, config.allow_changed_data)
        )
    except UserError as error:
        return Entry(config.dataset, None, str(error))


def _balance(facts: dict[str, Any]) -> str:
    count = facts["positive_rows"]
    return f"{facts['target']} = {facts['positive']}: {count} ({count / facts['rows']:.1%})"


def _path(facts: dict[str, Any]) -> str:
    return f"{facts['path']} ({facts['place']})" if facts["is_here"] else "-"


def _facts(facts: dict[str, Any]) -> dict[str, str]:
    dropped = f", {facts['dropped_rows']} more dropped" if facts["dropped_rows"] else ""
    return {
        "dataset": ", ".join(filter(None, (facts["name"], facts["title"]))),
        "rows": f"{facts['rows']}{dropped}",
        "target": f"{_balance(facts)}; false: {facts['negative']}",
        "source": f"{facts['source']}{', doi ' + facts['doi'] if facts['doi'] else ''}",
        "creators": facts["creators"],
        "licence": facts["licence"],
        "path": _path(facts),
    }


def _values(facts: dict[str, Any], rows: int) -> str:
    if "categories" in facts:
        counts = sorted(facts["categories"].items(), key=lambda item: -item[1])
        shown = ", ".join(f"{name}: {count}" for name, count in counts[:_SHOWN_CATEGORIES])
        more = len(counts) - _SHOWN_CATEGORIES
        return shown + (f", and {more} more" if more > 0 else "")
    if "true_rows" in facts:
        return f"true: {facts['true_rows']}, false: {rows - facts['true_rows']}"
    low, high = number(facts["min"]), number(facts["max"])
    middle = number(round(facts["median"], 6))  # the mean of two values may end in 0000000001
    return f"{low} to {high}, median {middle}"


COMMAND = Command(
    Group.SETUP,
    "List the datasets, describe one, or download the rest.",
    "[show NAME | fetch [NAME]] [key=value ...] [--json]",
    ("datasets", "datasets show bank", "datasets fetch student_dropout"),
    main,
    (options.JSON,),
    {"data_dir=FOLDER": "the folder of your own copies of the datasets"},
)
