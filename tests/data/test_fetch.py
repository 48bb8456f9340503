"""student_dropout is fetched once, checked, converted, and refused when it is another file."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from fsm_hpc.data import fetch
from fsm_hpc.data.dataset import load
from fsm_hpc.data.spec import DatasetSpec
from fsm_hpc.data.store import digest
from fsm_hpc.errors import UserError
from tests.support.tables import shared_file, spec_of

PUBLISHED = "\ufeffMarks;Passed;Target\r\n12.5;1;Graduate\r\n3;0;Dropout\r\n".encode()
CONVERTED = b"marks,passed,target\n12.5,1,Graduate\n3,0,Dropout\n"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.delenv("FSM_DATA_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "fsm_hpc"


def _as_published_by_uci(table: bytes) -> bytes:
    """Undo the steps from UCI's data.csv to the paper's file; its sum is known."""
    first = "Marital status;Application mode;Application order;Course;"
    first += '"Daytime/evening attendance\t";Previous qualification;Previous qualification (grade);'
    first += "Nacionality;Mother's qualification;Father's qualification;Mother's occupation;"
    first += "Father's occupation;Admission grade;Displaced;Educational special needs;Debtor;"
    first += "Tuition fees up to date;Gender;Scholarship holder;Age at enrollment;International;"
    counted = "credited", "enrolled", "evaluations", "approved", "grade", "without evaluations"
    for half in ("1st", "2nd"):
        first += "".join(f"Curricular units {half} sem ({what});" for what in counted)
    first += "Unemployment rate;Inflation rate;GDP;Target"
    rows = table.partition(b"\n")[2].replace(b",", b";").replace(b"\n", b"\r\n")
    return f"\ufeff{first}\r\n".encode() + rows


def _zipped(content: bytes, name: str = "data.csv") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return packed.getvalue()


class _Quiet(SimpleHTTPRequestHandler):
    requests = 0

    def do_GET(self) -> None:
        type(self).requests += 1
        super().do_GET()

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def _server(folder: Path) -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def _small(url: str) -> DatasetSpec:
    """A spec like student_dropout's for a table of two rows."""
    return replace(
        spec_of("student_dropout"),
        url=url,
        header="marks,passed,target",
        published_sha256=digest(PUBLISHED),
        sha256=digest(CONVERTED),
    )


def _offer(folder: Path, content: bytes, name: str = "set.zip") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(content)
    return folder


def test_uci_697_is_fetched_over_http_and_becomes_the_papers_table(tmp_path: Path) -> None:
    paper = shared_file("student_dropout.csv").read_bytes()
    web = _offer(tmp_path / "web", _zipped(_as_published_by_uci(paper)))
    with _server(web) as address:
        path = fetch.fetch(replace(spec_of("student_dropout"), url=f"{address}/set.zip"))
    assert path.read_bytes() == paper
    assert load(spec_of("student_dropout"), None).place == "cache"


def test_what_was_fetched_is_not_fetched_again(tmp_path: Path) -> None:
    web = _offer(tmp_path / "web", _zipped(PUBLISHED))
    with _server(web) as address:
        before = _Quiet.requests
        first = fetch.fetch(_small(f"{address}/set.zip"))
        again = fetch.fetch(_small(f"{address}/set.zip"))
        assert _Quiet.requests == before + 1
    assert first == again
    assert first.read_bytes() == CONVERTED


def test_a_download_of_another_file_is_refused_with_both_sums(tmp_path: Path, cache: Path) -> None:
    web = _offer(tmp_path / "web", _zipped(b"something else"))
    with _server(web) as address, pytest.raises(UserError) as refused:
        fetch.fetch(_small(f"{address}/set.zip"))
    assert digest(b"something else") in str(refused.value)
    assert str(_small("").published_sha256) in str(refused.value)
    assert not (cache / "student_dropout.csv").exists()


def test_a_file_that_was_downloaded_by_hand_is_taken(tmp_path: Path) -> None:
    folder = _offer(tmp_path / "mine", _zipped(PUBLISHED))
    for url in (str(folder / "set.zip"), f"file://{folder}/set.zip"):
        assert fetch.fetch(_small(url)).read_bytes() == CONVERTED


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (_zipped(b"x", "other.csv"), "expected one file data.csv in the zip archive"),
        (_zipped(PUBLISHED)[:-40], "damaged"),
        (b"<html>moved</html>", "expected SHA-256"),
    ],
)
def test_a_download_that_is_no_such_archive_is_refused(
    tmp_path: Path, content: bytes, words: str
) -> None:
    web = _offer(tmp_path / "web", content)
    with _server(web) as address, pytest.raises(UserError, match=words):
        fetch.fetch(_small(f"{address}/set.zip"))


def test_a_missing_page_is_told_in_one_line(tmp_path: Path) -> None:
    with _server(_offer(tmp_path / "web", b"")) as address, pytest.raises(UserError) as told:
        fetch.fetch(_small(f"{address}/gone.zip"))
    assert "the server answered 404" in str(told.value)
    assert "\n" not in str(told.value)


def test_no_network_is_told_in_one_line(tmp_path: Path) -> None:
    with _server(_offer(tmp_path / "web", b"")) as address:
        pass  # the server has ended: nobody listens at this address any more
    with pytest.raises(UserError) as told:
        fetch.fetch(_small(f"{address}/set.zip"))
    assert "no connection" in str(told.value)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("name", ["data.csv", "set.zip", "student_dropout.csv"])
def test_the_published_file_in_a_folder_is_taken_as_it_is(tmp_path: Path, name: str) -> None:
    paper = shared_file("student_dropout.csv").read_bytes()
    published = _as_published_by_uci(paper)
    content = _zipped(published) if name.endswith("zip") else published
    folder = _offer(tmp_path / "mine", content, name)
    spec = replace(spec_of("student_dropout"), url="https://example.org/set.zip")
    assert load(spec, folder).rows == 4424


def test_another_data_csv_in_the_folder_is_passed_over(tmp_path: Path) -> None:
    folder = _offer(tmp_path / "mine", b"x,y\n1,2\n", "data.csv")
    with pytest.raises(UserError, match="datasets fetch student_dropout"):
        load(spec_of("student_dropout"), folder)
