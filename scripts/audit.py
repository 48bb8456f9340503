"""Ask for known holes in pinned packages: python -m scripts.audit requirements/ci.txt."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

LIMIT_S = 300


def main(pins: str) -> int:
    """0 where none is known or nobody could be asked, which is said; 1 where one is."""
    if importlib.util.find_spec("pip_audit") is None:
        return _skipped("pip-audit is not installed here, and could not be")
    command = [sys.executable, "-m", "pip_audit", "--requirement", pins]
    options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=LIMIT_S)
        found: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _skipped(f"no answer within {LIMIT_S} s")
    except (ValueError, KeyError, TypeError):
        return _skipped((done.stderr.strip().splitlines() or ["pip-audit said nothing"])[-1])
    asked = [one for one in found if "skip_reason" not in one]
    if not asked:
        return _skipped(f"none of {len(found)} packages could be looked up from here")
    return _told(asked, len(found))


def _told(asked: list[dict[str, Any]], count: int) -> int:
    holes = [(one, hole) for one in asked for hole in one.get("vulns", [])]
    for one, hole in holes:
        mended = ", ".join(hole.get("fix_versions", [])) or "no version"
        print(f"{one['name']} {one['version']}: {hole['id']}, mended in {mended}")
    print(f"{len(asked)} of {count} packages looked up: {len(holes)} known holes")
    return 1 if holes else 0


def _skipped(why: str) -> int:
    print(f"the audit is skipped: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
