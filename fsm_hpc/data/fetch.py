"""Download a table that may not be shipped into the user's cache."""

from __future__ import annotations

import logging
import tempfile
from pathlib import Path

from fsm_hpc.data import store
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.errors import UserError
from fsm_hpc.system.files import write_atomically

_TIMEOUT_S = 60  # without a byte


def fetch(spec: DatasetSpec) -> Path:
    """The path of the table in the cache; download and convert it if necessary."""
    if spec.url is None or spec.file is None:
        raise UserError(f"{spec.name} cannot be fetched: expected a url in its config, found none")
    path = store.cache_dir() / spec.file
    if path.is_file() and store.digest(path.read_bytes()) == spec.sha256:
        return path
    published = _published(spec, spec.url)
    table = store.as_in_the_paper(spec, published)
    _require(spec.sha256, table, f"{spec.url}, converted")
    try:
        write_atomically(path, table.decode())
    except OSError as error:
        raise UserError(
            f"cannot write {path} ({error.strerror}); set XDG_CACHE_HOME to a folder of yours"
        ) from error
    return path


def _published(spec: DatasetSpec, url: str) -> bytes:
    """The file as its creators published it, extracted from its archive."""
    is_remote = url.startswith(("http://", "https://"))
    content = _download(url, spec.name) if is_remote else _local(url)
    content = store.decompress(content, Path(url), spec.published_file)
    _require(spec.published_sha256, content, f"{spec.published_file} of {url}")
    return content


def _require(expected: str | None, content: bytes, what: str) -> None:
    checksum = store.digest(content)
    if expected is not None and checksum != expected:
        raise UserError(
            f"{what}: expected SHA-256 {expected}, found {checksum}; nothing was kept. If the "
            "download has changed, get the old file from someone who has it: data_dir=FOLDER"
        )


def _local(url: str) -> bytes:
    path = Path(url.removeprefix("file://")).expanduser()
    if not path.is_file():
        raise UserError(f"dataset.url: expected a web address or a file, found no file at {path}")
    return path.read_bytes()


def _download(url: str, name: str) -> bytes:
    import pooch
    import requests

    pooch.get_logger().setLevel(logging.WARNING)  # it would report checksums
    with tempfile.TemporaryDirectory() as folder:
        loader = pooch.HTTPDownloader(timeout=_TIMEOUT_S)
        try:
            # the archive has no known checksum; the file inside it is checked
            kept = pooch.retrieve(
                url, known_hash=None, fname="download", path=folder, downloader=loader
            )
        except (requests.RequestException, OSError, ValueError) as error:
            raise UserError(
                f"{name} could not be downloaded from {url} ({_reason(error)}): try again where "
                "there is network, or bring the file here and use dataset.url=FILE"
            ) from error
        return Path(kept).read_bytes()


def _reason(error: BaseException) -> str:
    """The innermost cause in a few words; requests nests several."""
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return f"no answer in {_TIMEOUT_S} s"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return str(error).splitlines()[0] if str(error) else type(error).__name__
