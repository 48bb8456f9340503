"""Build the tables of a study: coverage, accuracy, formulas, runtimes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fsm_hpc.cluster.watch.states import FoldState
from fsm_hpc.report.collect import DatasetVariant, FoldGroup, Study, label
from fsm_hpc.report.mixture import Mixture, fold_list
from fsm_hpc.report.significance import MARGIN
from fsm_hpc.report.tables import alternatives, comparison, pairs, paper
from fsm_hpc.report.tables.document import document
from fsm_hpc.report.tables.latex import to_latex
from fsm_hpc.report.tables.letters import Letters
from fsm_hpc.report.tables.tabular import Cell, Heading, Line, Math, Table, mean_cell
from fsm_hpc.report.tables.text import to_csv, to_markdown
from fsm_hpc.search.proof import ProofLevel
from fsm_hpc.study.fold_id import PLAIN
from fsm_hpc.study.measures import METRICS
from fsm_hpc.system import files
from fsm_hpc.system.numbers import counted


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of tables, figures and the report page."""

    paper: bool = False  # also the numbers of the paper
    names: bool = False  # formulas with column names instead of letters
    metric: str = "accuracy"  # a name in METRICS
    compare: bool = False  # also tests of the differences between methods
    margin: float = MARGIN  # non-inferiority margin in points


@dataclass(frozen=True)
class TableBuilder:
    """Builds the tables of one study."""

    study: Study
    mixtures: Sequence[Mixture] = ()
    options: ReportOptions = field(default_factory=ReportOptions)

    def all(self) -> list[Table]:
        methods = {c.method for c in self.study.groups.values() if c.finds_formula}
        formulas = [self.formulas(m) for m in self.study.methods if m in methods]
        compared = [self.variants()] if self.study.has_variants else []
        tested = self.pairs() if self.options.compare else []
        near = [self.alternatives()] if alternatives.has_any(self.study) else []
        first = [self.coverage(), self.accuracy(), *tested, *compared, *formulas]
        checked = [self.proofs()] if self.study.proofs[ProofLevel.VERIFIED] else []
        return [*first, *checked, *near, self.runtimes()]

    def pairs(self) -> list[Table]:
        """Pairs of methods, with tests of their differences."""
        metric = self.options.metric
        return pairs.tables(self.study, metric, METRICS[metric].caption, self.options.margin)

    def alternatives(self) -> Table:
        """How many formulas are near-optimal, in folds with `scan.alternatives`."""
        return alternatives.table(self.study, self._label_headings, self._labels)

    def variants(self) -> Table:
        """Each method's variants, with the gain of each over the first."""
        labels = (self._label_headings, self._labels)
        return comparison.table(self.study, self.options.metric, *labels, self._accuracy_cell)

    @property
    def _variant_heading(self) -> tuple[Heading, ...]:
        """The column of the variant, if the study has variants."""
        return (Heading("variant", is_text=True),) if self.study.has_variants else ()

    @property
    def _label_headings(self) -> tuple[Heading, ...]:
        """The columns for the name of a group of folds."""
        labels = (Heading("dataset", is_text=True), Heading("method", is_text=True))
        return (*labels, *self._variant_heading)

    def _variant(self, name: str) -> tuple[Cell, ...]:
        return (Cell(name or PLAIN),) if self.study.has_variants else ()

    def _labels(self, folds: FoldGroup) -> tuple[Cell, ...]:
        return Cell(folds.dataset), Cell(label(folds.method)), *self._variant(folds.variant)

    # -------------------------------------------------------------------------------- coverage

    def coverage(self) -> Table:
        """How many folds have each state."""
        study = self.study
        states = [s for s in FoldState if s is FoldState.DONE or study.counts[s]]
        columns = (
            *self._label_headings,
            Heading("folds", digits=0),
            *(Heading(state.value, digits=0) for state in states),
        )
        lines = [
            Line(
                (
                    *self._labels(folds),
                    Cell(float(len(folds.rows))),
                    *(_count(folds, state) for state in states),
                ),
                opens_group=_is_first(study, folds),
            )
            for folds in study.groups.values()
        ]
        return Table("coverage", "Folds by state", columns, tuple(lines))

    def proofs(self) -> Table:
        """How many formulas are found, proved and verified; seconds of the checker."""
        levels = tuple(Heading(level.value, digits=0) for level in ProofLevel)
        seconds = Heading("checker s")
        lines = [
            Line(
                (*self._labels(folds), *_proof_counts(folds)),
                opens_group=_is_first(self.study, folds),
            )
            for folds in self.study.groups.values()
            if folds.finds_formula
        ]
        caption = (
            "Formulas by proof level: found, proved by the solver, verified by the independent "
            "checker with its processor seconds"
        )
        return Table("proofs", caption, (*self._label_headings, *levels, seconds), tuple(lines))

    def note(self, folds: FoldGroup) -> str:
        """The footnote of an average over these folds."""
        counts, total = folds.counts, len(folds.rows)
        have = len(folds.results)
        notes = []
        if have < total:
            open_ = Counter(row.state for row in folds.rows if row.result is None)
            without = [f"{open_[v]} {v.value}" for v in FoldState if open_[v]]
            notes.append(f"{have} of {counted(total, 'fold')} ({', '.join(without)})")
        if counts[FoldState.UNPROVED]:
            notes.append(f"{counts[FoldState.UNPROVED]} unproved ({_known_bounds(folds)})")
        ended = [f"{counts[s]} {s.value}" for s in _ENDED_EARLY if counts[s]]
        if ended:
            notes.append(f"{' and '.join(ended)} (fell back to the best finished length)")
        measures = sorted({done.measure for done in folds.results} - {"accuracy"})
        notes += [f"fitted and chosen by {measure}" for measure in measures]
        notes += [f"mixes {m.text}" for m in self.mixtures if m.is_of(folds)]
        return "; ".join(notes)

    # -------------------------------------------------------------------------------- accuracy

    def accuracy(self) -> Table:
        """Dataset x method: mean and deviation of the test accuracy, or of another measure."""
        study, metric = self.study, METRICS[self.options.metric]
        methods = tuple(Heading(label(m), better=metric.better, digits=1) for m in study.methods)
        labels = (Heading("dataset", is_text=True), *self._variant_heading)
        figure = (Heading("figure", is_text=True),) if self._has_paper_accuracy else ()
        lines = [line for key in study.dataset_variants for line in self._accuracy_lines(key)]
        caption = f"{metric.caption} in {metric.unit}, mean and standard deviation over folds"
        is_left_out = self.options.paper and not self._has_paper_accuracy
        remarks = (("The paper reports the accuracy only.",),) if is_left_out else ()
        columns = (*labels, *figure, *methods)
        return Table(self.options.metric, caption, columns, tuple(lines), remarks)

    @property
    def _has_paper_accuracy(self) -> bool:
        """Whether the table shows the paper's numbers."""
        return self.options.paper and self.options.metric == "accuracy"

    def _accuracy_lines(self, key: DatasetVariant) -> Iterable[Line]:
        groups = [self.study.group(key, m) for m in self.study.methods]
        ours = [Cell() if g is None else self._accuracy_cell(g) for g in groups]
        name = (Cell(key.dataset), *self._variant(key.variant))
        if not self._has_paper_accuracy:
            yield Line((*name, *ours))
            return
        printed = [paper.accuracy().get((key.dataset, m)) for m in self.study.methods]
        theirs = [Cell() if p is None else Cell(*p) for p in printed]
        yield Line((*name, Cell("ours"), *ours), opens_group=True)
        yield Line((*name, Cell("paper"), *theirs))
        yield Line((*name, Cell("difference"), *map(_difference, ours, theirs)), is_difference=True)

    def _accuracy_cell(self, folds: FoldGroup) -> Cell:
        shares = folds.shares(self.options.metric)
        values = [100 * share for share in shares.values() if share is not None]
        notes = (self.note(folds), self._measure_note(folds, shares))
        return mean_cell(values, "; ".join(filter(None, notes)), deviation=True)

    def _measure_note(self, folds: FoldGroup, shares: dict[int, float | None]) -> str:
        """Where a measure is undefined, or an accuracy does not exceed the majority."""
        undefined = [fold for fold, share in shares.items() if share is None]
        if undefined and len(undefined) == len(shares):
            return "undefined in every fold"
        if undefined:
            have = f"{len(shares) - len(undefined)} of {counted(len(shares), 'fold')}"
            return f"over {have}, as it is undefined in {fold_list(undefined)}"
        if self.options.metric == "accuracy" and folds.beats_majority is False:
            return no_better(folds)
        return ""

    # -------------------------------------------------------------------------------- formulas

    def formulas(self, method: str) -> Table:
        """The formula of the first fold, and the average size over folds."""
        columns = [
            Heading("dataset", is_text=True),
            *self._variant_heading,
            Heading("example formula", is_text=True, is_wide=True),
            Heading("average size"),
        ]
        if self.options.paper:
            columns += [Heading("paper"), Heading("difference", signed=True)]
        letters = Letters.of_study(self.study)
        cells = [f for f in self.study.groups.values() if f.method == method]
        lines = [Line(self._formula_cells(folds, letters)) for folds in cells]
        legends = {} if self.options.names else dict.fromkeys(letters.legend(f) for f in cells)
        return Table(
            f"formulas_{method}",
            f"Formulas of the method {label(method)}: formula of the first fold, and average size",
            tuple(columns),
            tuple(lines),
            tuple(legend for legend in legends if legend),
        )

    def _formula_cells(self, folds: FoldGroup, letters: Letters) -> tuple[Cell, ...]:
        sizes = [float(done.size) for done in folds.results if done.size is not None]
        average = mean_cell(sizes, self.note(folds))
        name = (Cell(folds.dataset), *self._variant(folds.variant))
        cells = (*name, self._example(folds, letters), average)
        if not self.options.paper:
            return cells
        theirs = Cell(paper.average_size().get((folds.dataset, folds.method)))
        return (*cells, theirs, _difference(average, theirs))

    def _example(self, folds: FoldGroup, letters: Letters) -> Cell:
        row = folds.example
        if row is None or row.result is None:
            return Cell()
        shown: Math = letters.show(row.result, self.options.names)
        first = folds.rows[0]
        notes = [] if row is first else [f"of fold {row.fold}, as fold {first.fold} has none"]
        if row.state is not FoldState.DONE:
            notes.append(f"fold {row.fold} is {row.state.value}")
        return Cell(shown, note="; ".join(notes))

    # -------------------------------------------------------------------------------- runtimes

    def runtimes(self) -> Table:
        """Average seconds per fold, and the core-hours of all."""
        times = (Heading("scan s"), Heading("final s"), Heading("total s"))
        theirs = (Heading("paper s", digits=0), Heading("paper / ours", digits=2))
        columns = (*self._label_headings, *times, Heading("core-hours", digits=2))
        lines = [self._runtime_line(folds) for folds in self.study.groups.values()]
        hours = sum(row.core_hours for row in self.study.rows)
        blank = Cell("")
        before = [blank] * (len(columns) - 2)
        total = (Cell("all"), *before, Cell(hours), *[blank] * (2 * self.options.paper))
        return Table(
            "runtimes",
            "Average wall-clock seconds per fold, of the scan (or tuning) and of the final solve "
            "(or refit); core-hours are seconds times threads, summed over all folds",
            (*columns, *(theirs if self.options.paper else ())),
            (*lines, Line(total, is_total=True, opens_group=True)),
        )

    def _runtime_line(self, folds: FoldGroup) -> Line:
        times = [done.seconds for done in folds.results]
        total = mean_cell([t.total for t in times], self.note(folds))
        hours = sum(row.core_hours for row in folds.rows)
        cells: tuple[Cell, ...] = (
            *self._labels(folds),
            mean_cell([t.scan for t in times]),
            mean_cell([t.final for t in times]),
            total,
            Cell(hours if times else None),
        )
        if self.options.paper:
            theirs = paper.seconds().get((folds.dataset, folds.method))
            ratio = theirs / total.value if theirs and total.value else None
            cells = (*cells, Cell(theirs), Cell(ratio))
        return Line(cells, opens_group=_is_first(self.study, folds))


_ENDED_EARLY = (FoldState.TIMEOUT, FoldState.OUT_OF_MEMORY)


def _known_bounds(folds: FoldGroup) -> str:
    """The known bounds of the unproved formulas of these folds."""
    known = [
        f"fold {done.fold}: {text}"
        for row in folds.rows
        if row.state is FoldState.UNPROVED and (done := row.result) and (text := done.bounds)
    ]
    return "; ".join(known) or "possibly not optimal"


def _proof_counts(folds: FoldGroup) -> tuple[Cell, ...]:
    proofs = [row.proof for row in folds.rows]
    seconds = sum(row.verification.processor_s for row in folds.rows if row.verification)
    return (*(Cell(float(proofs.count(level))) for level in ProofLevel), Cell(seconds))


def no_better(folds: FoldGroup) -> str:
    """The note for folds that do not exceed the majority."""
    majority = 100 * (folds.majority or 0)
    return f"does not beat always predicting the more frequent class ({majority:.1f})"


def _is_first(study: Study, folds: FoldGroup) -> bool:
    """Whether it is the first method of its dataset."""
    return next(c for c in study.groups.values() if c.dataset == folds.dataset) is folds


def _count(folds: FoldGroup, state: FoldState) -> Cell:
    """How many folds have the state, with their reasons."""
    reasons: dict[str, list[int]] = {}
    for row in folds.rows:
        if row.state is state and row.reason:
            reasons.setdefault(row.reason, []).append(row.fold)
    notes = [f"{fold_list(numbers)}: {reason}" for reason, numbers in reasons.items()]
    return Cell(float(folds.counts[state]), note="; ".join(notes))


def _difference(ours: Cell, theirs: Cell) -> Cell:
    if ours.value is None or theirs.value is None:
        return Cell()
    return Cell(ours.value - theirs.value)


# ---------------------------------------------------------------------------------------- files

FORMATS = {"tex": to_latex, "csv": to_csv, "md": to_markdown}


def write(folder: Path, tables: Sequence[Table], formats: Iterable[str] = FORMATS) -> list[Path]:
    """Every table in every format; with LaTeX, all.tex inputs them all."""
    written = []
    for extension in formats:
        texts = [FORMATS[extension](table) for table in tables]
        for table, text in zip(tables, texts, strict=True):
            written.append(folder / f"{table.name}.{extension}")
            files.write_atomically(written[-1], text)
        if extension == "tex":
            written.append(folder / "all.tex")
            files.write_atomically(written[-1], document([t.name for t in tables], texts))
    return written
