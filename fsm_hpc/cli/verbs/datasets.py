"""The verb `datasets`: what tables there are, what is in them, and how to get the rest."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fsm_hpc.cli import options
from fsm_hpc.cli.usage import Group, Verb
from fsm_hpc.data import fetch
from fsm_hpc.data.dataset import Dataset, load
from fsm_hpc.data.facts import Entry, columns, summary
from fsm_hpc.errors import UserError
from fsm_hpc.formulas.text import number
from fsm_hpc.study import hydra, keys
from fsm_hpc.study.compose import compose_any
from fsm_hpc.study.config import Config
from fsm_hpc.system import terminal
from fsm_hpc.system.numbers import counted

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

_EXPECTED = "datasets, datasets show NAME or datasets fetch NAME"
_SHOWN_CATEGORIES = 12
_KINDS = ("numeric", "Boolean", "categorical")


def main(flags: argparse.Namespace, arguments: list[str]) -> int:
    """List the tables, show one, or fetch those that are not here."""
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
    entries = [_entry(_config(name, overrides)) for name in _named()]
    if as_json:
        print(json.dumps([summary(entry) for entry in entries], indent=1, ensure_ascii=False))
        return
    console = terminal.console()
    console.print(_overview(entries))
    console.print()
    console.print(_origins(entries))
    console.print()
    for problem in filter(None, (entry.problem for entry in entries)):
        console.print(problem, style="yellow", soft_wrap=True)
    console.print("Your own: dataset=csv dataset.path=my.csv dataset.target=label", style="dim")


def _show(name: str, overrides: Sequence[str], as_json: bool) -> None:
    config = _config(name, overrides)
    dataset = load(config.dataset, config.data_dir, config.allow_changed_data)
    entry = Entry(config.dataset, dataset)
    if as_json:
        full = {**summary(entry), "columns_in_file": columns(dataset), "notes": list(dataset.notes)}
        print(json.dumps(full, indent=1, ensure_ascii=False))
        return
    console = terminal.console()
    console.print(_facts(entry, dataset))
    console.print()
    console.print(_column_table(dataset))
    for note in dataset.notes:
        console.print(f"- {note}")


def _fetch(names: Sequence[str], overrides: Sequence[str]) -> None:
    chosen = names or [n for n in _named() if _config(n, overrides).dataset.url]
    for name in chosen:
        config = _config(name, overrides)
        entry = _entry(config)
        if entry.dataset is not None:
            print(f"{name} needs no fetching: {entry.dataset.path} ({entry.dataset.place})")
            continue
        if config.dataset.url is None:
            raise UserError(str(entry.problem))
        path = fetch.fetch(config.dataset)
        rows = load(config.dataset, path.parent).rows
        print(f"{name}: {counted(rows, 'row')}, SHA-256 as expected, kept at {path}")


def _named() -> list[str]:
    """Datasets with a table of their own; csv stands for any."""
    return [name for name in hydra.names_in("dataset") if name != "csv"]


def _config(name: str, overrides: Sequence[str]) -> Config:
    return compose_any([f"dataset={name}", *overrides])


def _entry(config: Config) -> Entry:
    try:
        return Entry(
            config.dataset, load(config.dataset, config.data_dir, config.allow_changed_data)
        )
    except UserError as error:
        return Entry(config.dataset, None, str(error))


# ------------------------------------------------------------------------------------- tables


def _overview(entries: Sequence[Entry]) -> RenderableType:
    table = _table("dataset", *(f">{word}" for word in ("rows", *_KINDS, "one-hot")), "true")
    for entry in entries:
        facts = summary(entry)
        keys = ("rows", "numeric", "boolean", "categorical", "columns")
        balance = _balance(entry.dataset) if entry.dataset else "not here"
        table.add_row(entry.spec.name, *(str(facts.get(key, "-")) for key in keys), balance)
    return table


def _origins(entries: Sequence[Entry]) -> RenderableType:
    """Where each table comes from, and where it is."""
    table = _table("dataset", "source", "licence", "path")
    for entry in entries:
        found = entry.dataset
        here = f"{found.path} ({found.place})" if found else "-"
        table.add_row(entry.spec.name, entry.spec.source, entry.spec.licence, here)
    return table


def _balance(dataset: Dataset) -> str:
    share = dataset.labels.mean()
    return f"{dataset.target} = {dataset.positive}: {int(dataset.labels.sum())} ({share:.1%})"


def _facts(entry: Entry, dataset: Dataset) -> RenderableType:
    spec = entry.spec
    dropped = f", {dataset.dropped_rows} more dropped" if dataset.dropped_rows else ""
    facts = {
        "dataset": ", ".join(filter(None, (spec.name, spec.title))),
        "rows": f"{dataset.rows}{dropped}",
        "target": f"{_balance(dataset)}; false: {dataset.negative}",
        "source": ", ".join(filter(None, (spec.source, spec.doi and f"doi {spec.doi}"))),
        "creators": spec.creators,
        "licence": spec.licence,
        "path": f"{dataset.path} ({dataset.place})",
    }
    table = _table("", "")
    for word, text in facts.items():
        if text:
            table.add_row(word, text)
    return table


def _column_table(dataset: Dataset) -> RenderableType:
    table = _table("column", "kind", ">distinct", "range, or rows of each value")
    for facts in columns(dataset):
        values = _values(facts, dataset.rows)
        table.add_row(facts["name"], facts["kind"], str(facts["distinct"]), values)
    return table


def _table(*headers: str) -> Table:
    """A table without lines; a header that starts with > is over a column of numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold", show_header=any(headers))
    for at, header in enumerate(headers):
        right, last = header.startswith(">"), at == len(headers) - 1
        table.add_column(
            header.removeprefix(">"),
            justify="right" if right else "left",
            style="bold" if at == 0 else None,
            no_wrap=right,
            overflow="fold" if last else "ellipsis",
        )
    return table


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


VERB = Verb(
    Group.TABLES,
    "The tables: what there is, what is in one, and how to get the rest.",
    "[show NAME | fetch [NAME]] [key=value ...] [--json]",
    ("datasets", "datasets show bank", "datasets fetch student_dropout"),
    main,
    options.json_flag,
)
