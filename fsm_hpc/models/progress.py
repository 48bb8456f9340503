"""Terminal output of one fold: its progress, then its formula, accuracies and lengths."""

from __future__ import annotations

import time
from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fsm_hpc.formulas.formula import Formula
from fsm_hpc.models.notes import of_rounded_weights
from fsm_hpc.models.presenter import errors_in_words
from fsm_hpc.search.lengths import Length, LengthAttempt
from fsm_hpc.search.scan import ScanState
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system.numbers import clock, how_far, percent
from fsm_hpc.system.terminal import LiveDisplay, styled

PLAIN_EVERY_S = 30.0  # between two lines about the same length where there is no terminal


class FoldProgress(LiveDisplay):
    """Live progress of a fold on a terminal, plain lines elsewhere."""

    def __init__(self, console: Console, name: str) -> None:
        self._name = name
        self._started = time.monotonic()
        self._printed: tuple[str, int, bool] | None = None  # part, finished lengths, in the final
        self._printed_at = 0.0
        self._state = ScanState()
        self._trials = ""
        super().__init__(console, get_renderable=self._render, refresh_per_second=4)

    def begin(self, part: str) -> None:
        """Show another part of the work from now on."""
        self._name = part
        self._state = ScanState()

    def say(self, text: str) -> None:
        """Print a line above the progress."""
        self.console.print(text, soft_wrap=True)

    def watch(self, state: ScanState) -> None:
        self._state = state
        if not self.console.is_terminal:
            self._print_changes(state)

    def on_trial(self, count: int, best: float) -> None:
        self._trials = f"{self._name}  trial {count}, best validation accuracy {percent(best)}"
        if not self.console.is_terminal:
            self.console.print(self._trials, soft_wrap=True)

    def _print_changes(self, state: ScanState) -> None:
        """Print a line when a length or a part has ended, and every PLAIN_EVERY_S seconds."""
        current = (self._name, len(state.lengths), state.final is not None)
        if current == self._printed and time.monotonic() - self._printed_at < PLAIN_EVERY_S:
            return
        self._printed, self._printed_at = current, time.monotonic()
        self.console.print(self._line(state), soft_wrap=True)

    def _render(self) -> Text:
        return styled(self._trials or self._line(self._state))

    def _line(self, state: ScanState) -> str:
        parts, unproved = [self._name], _unproved(state)
        if state.final is not None:
            parts.append("final  " + _attempt(state.final))
        elif unproved is not None:
            parts.append(f"up to length {unproved.length}  errors {unproved.errors}  no proof")
        elif state.under_way is not None:
            parts.append(_attempt(state.under_way))
        elif state.lengths:
            last = state.lengths[-1]
            parts.append(f"length {last.length}  errors {last.errors}  proved")
        if state.lengths:
            parts.append(f"best validation {percent(state.best_validation)}")
        parts.append(f"elapsed {clock(time.monotonic() - self._started)}")
        if (formula := _formula(state)) is not None:
            parts.append(str(formula))
        return "  ".join(parts)


def _formula(state: ScanState) -> Formula | None:
    """The best formula of the length under way, or of the last one."""
    attempt = state.final or _unproved(state) or state.under_way
    if isinstance(attempt, Length):
        return attempt.formula
    if attempt is not None and attempt.best.formula is not None:
        return attempt.best.formula
    return state.lengths[-1].formula if state.lengths else None


def _unproved(state: ScanState) -> Length | None:
    """The longest length without proof, of the split that is searched."""
    found = (progress.unproved[-1] for progress in reversed(state.by_split) if progress.unproved)
    return next(found, None)


def print_result(console: Console, done: FoldResult) -> None:
    """Print the formula in words, its accuracies, and the table of lengths."""
    for line in _result_lines(done):
        console.print(line, soft_wrap=not console.is_terminal, highlight=False)
    if done.lengths:
        console.print(_lengths_table(done))


def _result_lines(done: FoldResult) -> Iterator[str | Text]:
    if done.formula is not None:
        yield styled((done.formula, "bold"))
        yield done.words or ""
        proved = "proved optimal" if done.proved else f"not proved (bound {done.lower_bound})"
        if done.before_rounding:
            before = done.before_rounding
            proved = f"rounded from {before['formula']}: {before['errors']}, {proved}"
        rows = done.rows["train"] + done.rows["validation"]
        errors = "errors: " + errors_in_words(done.errors or 0, rows, done.measure, done.weight)
        yield (
            f"size {done.size} within {done.length_bound}, {errors}, {proved}; "
            f"scan ended by {done.stop_reason.replace('_', ' ')}"
        )
    elif done.model is not None:
        parameters = ", ".join(f"{k}={v}" for k, v in done.model.get("parameters", {}).items())
        yield styled((done.method, "bold"), f" {parameters}")
    accuracy = done.accuracy
    chosen_by = "" if done.measure == "accuracy" else f" ({done.measure})"
    validation = accuracy.validation
    chosen = "" if validation is None else f", validation {percent(validation)}{chosen_by}"
    yield (
        f"accuracy: fitted {percent(accuracy.train)}{chosen}, held out {percent(accuracy.test)}; "
        f"{done.seconds.total:.1f} s"
    )
    if done.measured is not None:
        yield (
            f"{done.measure}: fitted {percent(done.measured.train)}, "
            f"held out {percent(done.measured.test)}"
        )
        yield from map(str, of_rounded_weights(done.weight_error, done.measure))
    measures = done.measures
    others = ", ".join(_measure(name, measures[name]) for name in _BESIDE)
    yield f"{others} on the held-out rows"
    if done.beats_majority is False:
        subject = "the formula" if done.formula is not None else "the model"
        text = f"{subject} does not beat always predicting the more frequent class"
        yield styled((text, "yellow"))


_BESIDE = ("majority", "balanced_accuracy", "precision", "recall")  # printed with the accuracy


def _measure(name: str, share: float | None) -> str:
    value = "undefined" if share is None else percent(share)
    return f"{name.replace('_', ' ')} {value}"


def _lengths_table(done: FoldResult) -> Table:
    table = Table(box=None, pad_edge=False, header_style="dim")
    for heading in ("length", "size", "errors", "train", "validation", "seconds"):
        table.add_column(heading, justify="right")
    table.add_column("solver")
    table.add_column("formula", overflow="fold")
    for entry in done.lengths:
        is_chosen = entry["length"] == done.length_bound
        table.add_row(
            str(entry["length"]) + ("*" if is_chosen else " "),
            str(entry["size"]),
            str(entry["errors"]) + ("" if entry["proved"] else "?"),
            percent(entry["train_accuracy"]),
            percent(entry["validation_accuracy"]),
            f"{entry['seconds']:.2f}",
            entry["solver"],
            entry["formula"],
            style="bold" if is_chosen else None,
        )
    notes = ["* chosen length"]
    if done.measure != "accuracy":
        notes.append(f"train and validation are {done.measure}")
    if any(not entry["proved"] for entry in done.lengths):
        notes.append("? not proved")
    table.caption = ", ".join(notes)
    table.caption_justify = "left"
    return table


def _attempt(attempt: LengthAttempt) -> str:
    """`length 5  errors 20`, with the bound where one is known, and how far the search is."""
    best = attempt.best
    if best.errors is None:
        return f"length {attempt.length}"
    bound = f"  at least {best.lower_bound}" if 0 < best.lower_bound < best.errors else ""
    share = attempt.progress
    far = "" if share is None else f"  {how_far(share, attempt.left_s)}"
    return f"length {attempt.length}  errors {best.errors}{bound}{far}"
