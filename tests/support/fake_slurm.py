"""A SLURM that accepts jobs and runs none, and whose commands fail in the ways that a test asks."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path

import pytest

_COMMANDS = """#!{python}
import json, os, re, sys, time
from pathlib import Path

here = Path({folder!r})
name, words = Path(sys.argv[0]).name, sys.argv[1:]
mode = (here / f"{{name}}.mode").read_text() if (here / f"{{name}}.mode").exists() else "ok"
with (here / "calls").open("a") as calls:
    calls.write(json.dumps([name, *words]) + "\\n")


def jobs():
    path = here / "queue"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def sbatch():
    script = Path(words[-1]).read_text()
    if mode in ("refuse", "fail"):
        sys.exit("sbatch: error: invalid partition specified: nope")
    task = Path(words[-1]).with_name("task.pkl")
    array = re.search(r"--array=0-(\\d+)", script)
    job = {{
        "id": str(1000 + len(jobs())),
        "name": re.search(r"--job-name=(\\S+)", script)[1].strip("'"),
        "count": int(array[1]) + 1 if array else 0,
        "has_pickle": task.exists(),
        "is_cancelled": False,
    }}
    if mode != "lost":
        with (here / "queue").open("a") as queue:
            queue.write(json.dumps(job) + "\\n")
    if mode == "hang":
        (here / "hangs").write_text(str(os.getpid()))
        time.sleep(600)
    if mode == "slow":
        time.sleep(2)
    if mode in ("error", "lost"):
        sys.exit("sbatch: error: Batch job submission failed: Socket timed out")
    print("Submitted batch job", job["id"]) if mode != "garbled" else os.write(1, b"\\xff\\xfeSub")


def squeue():
    if mode == "fail":
        sys.exit(1)
    if mode == "garbled":
        os.write(1, b"\\xff\\x00|RUN\\n10")
        return
    if mode == "empty":
        return
    if "-h" not in words:
        print("JOBID|STATE|REASON|NODELIST")
    named = words[words.index("-n") + 1].split(",") if "-n" in words else None
    for job in jobs():
        if job["is_cancelled"] or (named is not None and job["name"] not in named):
            continue
        if named is not None:
            print(f"{{job['id']}}|{{job['name']}}")
        else:
            ids = [f"{{job['id']}}_{{k}}" for k in range(job["count"])] or [job["id"]]
            asked = words[words.index("-j") + 1].split(",") if "-j" in words else ids
            print("".join(f"{{one}}|PENDING|Priority|\\n" for one in ids if one in asked), end="")


def scancel():
    if mode == "fail":
        sys.exit("scancel: error: Unable to contact slurm controller")
    gone = {{word.split("_")[0] for word in words}}
    kept = [job | {{"is_cancelled": job["is_cancelled"] or job["id"] in gone}} for job in jobs()]
    (here / "queue").write_text("".join(json.dumps(job) + "\\n" for job in kept))


def scontrol():
    if mode == "fail":
        sys.exit(1)
    print("MaxArraySize            = 1001")


def sacct():
    sys.exit(1 if mode != "garbled" else os.write(1, b"\\xff|\\xfe"))


def srun():
    pass


if mode not in ("utf16", "noise", "cut", "nothing", "killed", "code"):
    globals()[name]()
    sys.exit()

# what was asked for is done, and the answer is spoilt on its way
import contextlib, io, signal

answer = io.StringIO()
with contextlib.redirect_stdout(answer), contextlib.suppress(SystemExit):
    globals()[name]()
text = answer.getvalue()
if mode == "utf16":
    os.write(1, text.encode("utf-16"))
elif mode == "noise":
    os.write(1, b"\\xc3\\x28 slurm_load: \\x1b[31mwarning\\x00\\n" + text.encode())
elif mode == "cut":
    os.write(1, text.encode()[: len(text) // 2])
elif mode == "code":
    os.write(1, text.encode())
    sys.exit(3)
elif mode == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
"""
SPOILT = ("utf16", "noise", "cut", "nothing", "killed", "code")  # answers of any command


class FakeSlurm:
    """Commands first on the path; `says(sbatch="garbled")` changes how one behaves."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        for name in ("sbatch", "squeue", "scancel", "scontrol", "sacct", "srun"):
            text = _COMMANDS.format(python=sys.executable, folder=str(folder))
            (folder / name).write_text(text)
            (folder / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")

    def says(self, **modes: str) -> None:
        for name, mode in modes.items():
            (self.folder / f"{name}.mode").write_text(mode)

    def end_commands(self) -> None:
        """End an sbatch that hangs and whose caller is gone."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(int((self.folder / "hangs").read_text()), signal.SIGKILL)

    @property
    def jobs(self) -> list[dict[str, object]]:
        path = self.folder / "queue"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines]

    def calls(self, name: str) -> list[list[str]]:
        path = self.folder / "calls"
        found = [json.loads(line) for line in path.read_text().splitlines()]
        return [call[1:] for call in found if call[0] == name]
