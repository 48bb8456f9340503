"""Write folds.csv and lengths.csv: all measurements of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from fsm_hpc.report.collect import Row, Study
from fsm_hpc.study.fold_id import PLAIN
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import cells, files

_OF_RESULT: dict[str, Callable[[FoldResult], Any]] = {
    "solver": lambda r: r.solver,
    "seed": lambda r: r.seed,
    "test_accuracy": lambda r: round(r.accuracy.test, 6),
    "validation_accuracy": lambda r: _rounded(r.accuracy.validation),
    "train_accuracy": lambda r: round(r.accuracy.train, 6),
    "balanced_accuracy": lambda r: _rounded(r.confusion.balanced_accuracy),
    "precision": lambda r: _rounded(r.confusion.precision),
    "recall": lambda r: _rounded(r.confusion.recall),
    "f1": lambda r: _rounded(r.confusion.f1),
    "majority": lambda r: _rounded(r.confusion.majority),
    "auc": lambda r: r.scores and _rounded(r.scores.auc),
    "log_loss": lambda r: r.scores and _rounded(r.scores.log_loss),
    "formula": lambda r: r.formula,
    "size": lambda r: r.size,
    "length_bound": lambda r: r.length_bound,
    "errors": lambda r: r.errors,
    "measure": lambda r: r.measure,
    "weight": lambda r: r.weight,
    "lower_bound": lambda r: r.lower_bound,
    "proved": lambda r: r.proved if r.formula is not None else None,
    "stop_reason": lambda r: r.stop_reason,
    "alternatives": lambda r: r.alternatives and r.alternatives.get("count"),
    "trees": lambda r: r.model and r.model.get("trees"),
    "nodes": lambda r: r.model and r.model.get("nodes"),
    "trials": lambda r: r.model and r.model.get("trials"),
    "symbols": lambda r: r.model and r.model.get("symbols"),
    "claims_optimality": lambda r: r.model and r.model.get("claims_optimality"),
    "processor_s": lambda r: r.processor_s,
    "true_positive": lambda r: r.confusion.true_positive,
    "false_positive": lambda r: r.confusion.false_positive,
    "true_negative": lambda r: r.confusion.true_negative,
    "false_negative": lambda r: r.confusion.false_negative,
    "scan_s": lambda r: r.seconds.scan,
    "final_s": lambda r: r.seconds.final,
    "total_s": lambda r: round(r.seconds.total, 3),
    "threads": lambda r: r.provenance.get("threads"),
    "peak_rss_mb": lambda r: r.peak_rss_mb,
    "fingerprint": lambda r: r.fingerprint,
    "version": lambda r: r.provenance.get("version"),
    "commit": lambda r: r.provenance.get("commit"),
    "code": lambda r: r.provenance.get("code"),
    "host": lambda r: r.provenance.get("host"),
    "cpu": lambda r: r.provenance.get("cpu"),
    "job_ids": lambda r: " ".join(map(str, r.provenance.get("job_ids", ()))),
    "requeues": lambda r: r.provenance.get("requeues"),
}
_LABELS = ("dataset", "method", "fold", "status")
_PROOF = ("proof", "checker_version", "checker_s")
_LENGTH = (
    *("length", "size", "formula", "errors", "train_accuracy", "validation_accuracy"),
    *("proved", "seconds", "solver"),
)


def write(study: Study, folds_csv: Path, lengths_csv: Path) -> list[Path]:
    """One line per fold, and one per length of every fold."""
    folds = (_fold_line(row) for row in study.rows)
    _write(folds_csv, (*_LABELS, "reason", *_OF_RESULT, *_PROOF, "variant"), folds)
    lengths = (line for row in study.rows for line in _length_lines(row))
    _write(lengths_csv, (*_LABELS, *_LENGTH, "chosen", "variant"), lengths)
    return [folds_csv, lengths_csv]


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 6)


def _labels(row: Row) -> list[Any]:
    return [row.dataset, row.method, row.fold, row.state.value]


def _fold_line(row: Row) -> list[Any]:
    done, checked = row.result, row.verification
    values = [None] * len(_OF_RESULT) if done is None else [f(done) for f in _OF_RESULT.values()]
    proof = row.proof.value if row.proof else None
    check = (checked.checker, checked.processor_s) if checked else (None, None)
    return [*_labels(row), row.reason, *values, proof, *check, row.variant or PLAIN]


def _length_lines(row: Row) -> Iterable[list[Any]]:
    chosen = row.result.length_bound if row.result else None
    for entry in row.lengths:
        values = (entry.get(name) for name in _LENGTH)
        yield [*_labels(row), *values, entry.get("length") == chosen, row.variant or PLAIN]


def _write(path: Path, header: Iterable[str], lines: Iterable[list[Any]]) -> None:
    files.write_atomically(path, cells.write(header, lines))
