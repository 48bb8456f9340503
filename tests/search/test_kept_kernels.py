"""Compiled kernels on disk: what was damaged is compiled anew, and a full disk is told."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.search.solvers.native import compiling
from fsm_hpc.search.solvers.native.kernels import kernel, ranking

SOURCE = """
from fsm_hpc.search.solvers.native.kernels.kernel import kernel

@kernel
def more(x):
    return x + 1
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kernel, "unkept", [])
    path = tmp_path / "tiny.py"
    path.write_text(SOURCE)
    return path


def loaded(source: Path) -> Any:
    """The kernel, as a new process would have it."""
    spec = importlib.util.spec_from_file_location("tiny", source)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.more


def files_of(source: Path, kind: str) -> list[Path]:
    return sorted((source.parent / "__pycache__").glob(f"*.{kind}"))


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "cut": lambda content: content[: len(content) // 2],
    "foreign": lambda content: b"hello",
    "of another program": lambda content: b"\x80\x04]\x94.",
}


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_kernel_is_compiled_anew_and_kept(source: Path, kind: str, damage: str) -> None:
    assert loaded(source)(1) == 2
    for path in files_of(source, kind):
        path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert loaded(source)(1) == 2
    again = loaded(source)
    assert again(1) == 2
    assert sum(again.stats.cache_hits.values()) == 1


def test_what_cannot_be_kept_is_told_and_not_called_ready(source: Path, tmp_path: Path) -> None:
    more = loaded(source)
    for path in (source.parent / "__pycache__").iterdir():
        path.unlink()
    (source.parent / "__pycache__").rmdir()
    (source.parent / "__pycache__").write_text("in the way")
    said: list[str] = []
    stage = compiling.Stage("a kernel", more, lambda: more(1))
    compiling._make_ready(stage, said.append)
    assert more(1) == 2
    assert f"{source.parent / '__pycache__'}: the cache is not writable" in said[-1]
    assert not list(tmp_path.rglob(".compiled-*"))


def test_a_part_of_kernels_refuses_to_be_called_from_python() -> None:
    with pytest.raises(TypeError, match=r"rank_of is for kernels; Python calls kernel\(it.py_func"):
        ranking.rank_of(1, 2)
