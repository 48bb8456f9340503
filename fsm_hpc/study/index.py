"""A cache of the results of a study's finished folds; it may be missing, stale or damaged."""

from __future__ import annotations

import gzip
import io
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

import fsm_hpc
from fsm_hpc.search.proof import Verification
from fsm_hpc.study import provenance, result
from fsm_hpc.study.encoded_rows import EncodedRows
from fsm_hpc.study.files import FoldPaths, StudyPaths
from fsm_hpc.study.result import FoldResult
from fsm_hpc.system import files
from fsm_hpc.system.files import UnreadableError

MAX_BYTES = 2**30
CHUNK = 1000  # folds that are encoded together
FEW = 100  # do not write the file for fewer new entries
SETTLED_S = 2.0  # a younger file may change again within one tick of the clock
Signature = tuple[int, ...]  # of the files of a fold: times, inode and size of each


class IndexEntry(msgspec.Struct, array_like=True):
    """A finished fold."""

    name: str  # the folder of the fold, seen from that of the study
    signature: Signature
    outdated: int
    result: FoldResult
    verification: Verification | None


class ResultIndex:
    """Results of finished folds, each with the signature of the files that it was read from.

    It contains folds whose result.json answers their last submission.json: the caller checks that
    and calls `add`. `get` returns the result until one of the files has changed.
    """

    def __init__(self, study: StudyPaths) -> None:
        self._path, self._root = study.index, f"{study.root}{os.sep}"
        self._known = _read(study)
        self._signatures: dict[str, Signature | None] = {}
        self._new = 0

    def get(self, paths: FoldPaths) -> IndexEntry | None:
        """The entry of a finished fold; None: read the fold from disk."""
        name = self._name(paths)
        signature = self._signatures[name] = _signature(str(paths.folder))
        entry = self._known.get(name)
        return entry if entry is not None and entry.signature == signature else None

    def add(
        self, paths: FoldPaths, done: FoldResult, outdated: int, checked: Verification | None
    ) -> None:
        """Store the result of a fold that was read after `get` for the same fold."""
        name = self._name(paths)
        signature = self._signatures.get(name)
        if signature is not None and _is_settled(signature):
            self._known[name] = IndexEntry(name, signature, outdated, done, checked)
            self._new += 1

    def save(self) -> None:
        """Write the file if there are enough new entries and the folder is writable."""
        if self._new < max(FEW, len(self._known) // 100):
            return
        with suppress(OSError):
            files.write_atomically(self._path, _encoded(list(self._known.values())))
        self._new = 0

    def _name(self, paths: FoldPaths) -> str:
        return str(paths.folder).removeprefix(self._root)


def _encoded(entries: list[IndexEntry]) -> bytes:
    """Chunks, each after its length, so that a reader holds one at a time."""
    encoder, content = msgspec.msgpack.Encoder(enc_hook=list), io.BytesIO()
    with gzip.open(content, "wb", compresslevel=1) as stream:
        starts = range(0, len(entries), CHUNK)
        for part in (_writer(), *(entries[start : start + CHUNK] for start in starts)):
            chunk = encoder.encode(part)
            stream.write(len(chunk).to_bytes(4, "big") + chunk)
    return content.getvalue()


def _read(study: StudyPaths) -> dict[str, IndexEntry]:
    """The entries; none if the file is missing, damaged, or of another version."""
    try:
        content = files.read_regular(study.index, MAX_BYTES)
        if content is None:
            return {}
        with gzip.open(io.BytesIO(content)) as stream:
            chunks = _chunks(stream)
            if msgspec.msgpack.decode(next(chunks, b"")) != list(_writer()):
                return {}
            decoder = msgspec.msgpack.Decoder(list[IndexEntry])
            entries = (entry for chunk in chunks for entry in decoder.decode(chunk))
            return {entry.name: _compact(entry) for entry in entries}
    except (OSError, UnreadableError, EOFError, zlib.error, msgspec.MsgspecError):
        return {}


def _chunks(stream: gzip.GzipFile) -> Iterator[bytes]:
    while length := stream.read(4):
        yield stream.read(int.from_bytes(length, "big"))


_shared: dict[bytes, Any] = {}  # common parts of many results, stored once


def _compact(entry: IndexEntry) -> IndexEntry:
    """The entry in less memory."""
    done = entry.result
    object.__setattr__(done, "lengths", EncodedRows(done.lengths))
    for holder, name in ((done.provenance, "packages"), (done.settings, "data")):
        if name in holder:
            key = msgspec.msgpack.encode(holder[name])
            holder[name] = _shared.setdefault(key, holder[name])
    for name in ("phrases", "rows"):
        key = msgspec.msgpack.encode(getattr(done, name))
        object.__setattr__(done, name, _shared.setdefault(key, getattr(done, name)))
    return entry


def _writer() -> tuple[str, str, int]:
    return fsm_hpc.__version__, provenance.code_digest(), result.FORMAT


def _signature(folder: str) -> Signature | None:
    """The signature of the result, the folder and the last submission; None without a result."""
    done, names = _stat(f"{folder}/result.json"), _stat(folder)
    if done is None or names is None:
        return None
    submission = _stat(f"{folder}/submission.json")
    sent = () if submission is None else _of_file(submission)
    return names.st_mtime_ns, *_of_file(done), *sent


def _stat(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)  # noqa: PTH116 - a Path for each would take most of the time
    except OSError:
        return None


def _of_file(stat: os.stat_result) -> Signature:
    return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino, stat.st_size


def _is_settled(signature: Signature) -> bool:
    return time.time_ns() - max(signature[:2]) > SETTLED_S * 1e9
