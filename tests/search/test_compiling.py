"""The kernels are compiled once, and it is said where they go."""

from __future__ import annotations

from pathlib import Path

from fsm_hpc.search.solvers.native import compiling
from fsm_hpc.search.solvers.native.kernels import boxes


def test_a_cache_outside_of_the_installation_is_named(tmp_path: Path) -> None:
    inside = Path(boxes.__file__).parent / "__pycache__" / ".compiled-1"
    assert compiling._place(inside) == ""
    assert compiling._place(tmp_path / ".compiled-1") == f"; kept in {tmp_path}"
    assert "every process" in compiling._place(None)


def test_who_compiles_says_so_and_who_finds_it_done_does_not(tmp_path: Path) -> None:
    said: list[str] = []
    marker = tmp_path / ".compiled-1"
    with compiling._alone(marker), compiling._telling(said.append, marker):
        marker.touch()
    assert said[0].startswith(compiling.MESSAGE)
    assert said[-1].startswith("compiled in")
    with compiling._alone(marker), compiling._telling(said.append, marker):
        pass
    assert len(said) == 2
