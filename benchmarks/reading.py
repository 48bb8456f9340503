"""Time and memory of reading a table and of predicting its rows, beside those of pandas.

    python -m benchmarks.reading [--rows 200000] [--predicted 1000000]

Each measurement runs in a process of its own and reports processor time (user and system, without
the start of Python and imports) and the growth of its peak memory.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from fsm_hpc.data.dataset import load
from fsm_hpc.data.kind_name import KindName
from fsm_hpc.data.kinds import ColumnSchema
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.formulas.parser import parse
from fsm_hpc.models import predict
from fsm_hpc.models.model import Model, Rule

TIMES_PANDAS = 4.0  # the target for reading
PREDICT_S = 2.0  # the target for predictions from Parquet to Parquet


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=_Raw)
    parser.add_argument("--rows", type=int, default=200_000, help="rows of the table to read")
    parser.add_argument("--predicted", type=int, default=1_000_000, help="rows to predict")
    parser.add_argument("--repeat", type=int, default=3, help="runs, of which the fastest counts")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _report_reading(Path(folder), options.rows, options.repeat)
        _report_prediction(Path(folder), options.predicted, options.repeat)


class _Raw(argparse.RawDescriptionHelpFormatter):
    pass


def _report_reading(folder: Path, rows: int, repeat: int) -> None:
    path = folder / "table.csv"
    _table(rows).to_csv(path, index=False)
    print(f"read {rows:,} x 21 cells of CSV")
    baseline = _measured(repeat, _read_with_pandas, path)
    print(f"  pandas   {baseline[0]:6.2f} s  {baseline[1]:6.0f} MB")
    own = _measured(repeat, _load, path)
    ratio = own[0] / baseline[0]
    print(f"  fsm_hpc  {own[0]:6.2f} s  {own[1]:6.0f} MB")
    print(f"  {ratio:.1f} times pandas (target: at most {TIMES_PANDAS:g})")


def _report_prediction(folder: Path, rows: int, repeat: int) -> None:
    path = folder / "rows.parquet"
    _table(rows).iloc[:, [0, 1, 2, 8, 9, 14, 18, 20]].to_parquet(path)
    spent, memory = _measured(repeat, _predict, path)
    print(f"predict {rows:,} x 8 cells from Parquet to Parquet")
    print(f"  fsm_hpc  {spent:6.2f} s  {memory:6.0f} MB (target: at most {PREDICT_S:g} s)")


def _table(rows: int) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    columns: dict[str, Any] = {}
    columns |= {f"real_{at}": rng.normal(size=rows).round(3 + 2 * at) for at in range(8)}
    columns |= {f"whole_{at}": rng.integers(0, 10 ** (at + 1), rows) for at in range(6)}
    jobs = np.array(["cook", "nurse", "vet", "smith"])
    columns |= {f"job_{at}": rng.choice(jobs, rows) for at in range(4)}
    columns |= {f"flag_{at}": rng.choice(np.array(["yes", "no"]), rows) for at in range(2)}
    columns["label"] = rng.choice(np.array(["in", "out"]), rows)
    frame: pd.DataFrame = pd.DataFrame(columns)
    return frame


# --------------------------------------------------------------------------------- what is measured


def _read_with_pandas(path: Path) -> None:
    pd.read_csv(path)


def _load(path: Path) -> None:
    load(DatasetSpec("csv", "label", path=str(path), infer=True), None)


def _predict(path: Path) -> None:
    schemas = (
        ColumnSchema("real_0", KindName.NUMERIC),
        ColumnSchema("job_0", KindName.CATEGORICAL, ("cook", "nurse", "smith", "vet")),
        ColumnSchema("flag_0", KindName.BOOLEAN, (), ("yes",), ("no",)),
    )
    formula = parse("real_0 >= 0.5 and (job_0_cook or flag_0)")
    rule = Rule(formula, "out", length=5, errors=5, proved=True, precision=0.5)
    shares = ((0.5, 0.5), (0.5, 0.5))
    model = Model("label", (rule,), "in", shares, schemas, "pivot", rows=10, errors=5)
    answers = predict.predict(model, str(path), DatasetSpec("new", ""))
    predict.write(answers, str(path.with_name("answers.parquet")), print)


def _measured(repeat: int, work: Callable[[Path], None], path: Path) -> tuple[float, float]:
    """The least processor time of some runs, and their least memory in megabytes."""
    context = multiprocessing.get_context("spawn")
    with context.Pool(1, maxtasksperchild=1) as pool:
        runs = [pool.apply(_run, (work, path)) for _ in range(repeat)]
    return min(spent for spent, _ in runs), min(memory for _, memory in runs)


def _run(work: Callable[[Path], None], path: Path) -> tuple[float, float]:
    _warm_up(path.parent)
    before, started = _peak_mb(), time.process_time()
    work(path)
    return time.process_time() - started, _peak_mb() - before


def _warm_up(folder: Path) -> None:
    """Imports that a first call makes."""
    small = folder / "small.csv"
    _table(50).to_csv(small, index=False)
    _read_with_pandas(small)
    _load(small)
    pd.read_csv(small).to_parquet(folder / "small.parquet")
    _predict(folder / "small.parquet")


def _peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main()
