"""The process that runs clingo-dl, which can be killed at any time, also while grounding."""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

ORPHAN_CHECK_S = 1.0


@dataclass(frozen=True, slots=True)
class Job:
    """A program to solve: an entry file, facts, constants, options and a cost not to exceed."""

    entry: str
    facts: str
    constants: dict[str, int]
    options: tuple[str, ...]
    has_thresholds: bool
    bound: int | None = None
    parts: tuple[str, ...] = ()  # files beside the entry


@dataclass(frozen=True, slots=True)
class AnswerSet:
    """A formula: symbols in reverse Polish notation, thresholds and cost."""

    sequence: list[str | int]
    thresholds: dict[int, tuple[int, int]]
    cost: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Exhausted:
    """The search is complete; conflicts measure the work independently of the machine."""

    conflicts: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The program could not be solved."""

    message: str
    is_memory: bool


Message = AnswerSet | Exhausted | Failed


def solve(job: Job, send: Callable[[Message], None]) -> None:
    """Search for better models, send each, and send the end of the search."""
    import clingo

    constants = [f"-c{name}={value}" for name, value in job.constants.items()]
    control = clingo.Control([*constants, *job.options])
    theory = _load(control, job)
    control.add("base", [], job.facts)
    control.ground([("base", [])])
    if theory is not None:
        theory.prepare(control)
    if job.bound is not None:
        control.configuration.solve.opt_mode = f"opt,{job.bound}"
    with control.solve(async_=True, on_model=lambda model: send(_read(model, theory))) as handle:
        while not handle.wait(ORPHAN_CHECK_S):  # a blocking call would block signal handlers
            pass
        if not handle.get().exhausted:
            raise RuntimeError("clingo stopped before its search was over")
    send(Exhausted(int(control.statistics["solving"]["solvers"]["conflicts"])))


def _load(control: Any, job: Job) -> Any:
    """Load the encoding; without thresholds the theory is not needed."""
    if not job.has_thresholds:
        for path in (job.entry, *job.parts):
            control.load(path)
        return None
    from clingo.ast import ProgramBuilder, parse_files
    from clingodl import ClingoDLTheory

    theory = ClingoDLTheory()
    theory.register(control)
    with ProgramBuilder(control) as builder:
        parse_files(
            [job.entry, *job.parts], lambda statement: theory.rewrite_ast(statement, builder.add)
        )
    return theory


def _read(model: Any, theory: Any) -> AnswerSet:
    symbols: dict[int, str | int] = {}
    for symbol in model.symbols(atoms=True):
        if symbol.name == "at" and len(symbol.arguments) == 2:
            position, what = symbol.arguments
            symbols[position.number] = _word(what)
    sequence = [symbols[position] for position in sorted(symbols)]
    return AnswerSet(sequence, _thresholds(model, theory), tuple(model.cost))


def _word(symbol: Any) -> str | int:
    """The number of an attribute, or the name of a connective: `and`, `quorum 2`."""
    if symbol.name == "a":
        return int(symbol.arguments[0].number)
    return " ".join([symbol.name, *(str(argument) for argument in symbol.arguments)])


def _thresholds(model: Any, theory: Any) -> dict[int, tuple[int, int]]:
    """The pivots p(I), or the intervals from l(I) to u(I), in the model."""
    if theory is None:
        return {}
    values = {
        (variable.name, variable.arguments[0].number): value
        for variable, value in theory.assignment(model.thread_id)
        if variable.arguments
    }
    pivots = {index: (value, value) for (name, index), value in values.items() if name == "p"}
    intervals = {
        index: (low, values["u", index]) for (name, index), low in values.items() if name == "l"
    }
    return pivots | intervals


def _listen(connection: Connection, jobs: queue.Queue[Job]) -> None:
    """Queue incoming jobs; end the process when the parent is gone."""
    parent = os.getppid()
    while os.getppid() == parent:
        try:
            if connection.poll(ORPHAN_CHECK_S):
                jobs.put(connection.recv())
        except (EOFError, OSError):
            break
    os._exit(0)


def main(descriptor: int) -> None:
    connection = Connection(descriptor)
    jobs: queue.Queue[Job] = queue.Queue()
    threading.Thread(target=_listen, args=(connection, jobs), daemon=True).start()
    while True:
        job = jobs.get()
        try:
            solve(job, connection.send)
        except MemoryError:
            connection.send(Failed("clingo ran out of memory", is_memory=True))
        except RuntimeError as error:
            connection.send(Failed(str(error), is_memory="bad_alloc" in str(error)))


if __name__ == "__main__":
    # under its import name, so that messages can be unpickled
    from fsm_hpc.search.solvers.clingo import worker as clingo_worker

    clingo_worker.main(int(sys.argv[1]))
