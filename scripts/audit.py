"""List known vulnerabilities of pinned packages: python -m scripts.audit requirements/ci.txt."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from typing import Any

LIMIT_S = 300


def main(pins: str) -> int:
    """0 if none is known or the audit had to be skipped, 1 otherwise."""
    if importlib.util.find_spec("pip_audit") is None:
        return _skip("pip-audit is not installed and could not be installed")
    command = [sys.executable, "-m", "pip_audit", "--requirement", pins]
    options = ["--no-deps", "--disable-pip", "--format", "json", "--progress-spinner", "off"]
    try:
        done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=LIMIT_S)
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except subprocess.TimeoutExpired:
        return _skip(f"no answer within {LIMIT_S} s")
    except (ValueError, KeyError, TypeError):
        return _skip((done.stderr.strip().splitlines() or ["pip-audit printed nothing"])[-1])
    checked = [package for package in packages if "skip_reason" not in package]
    if not checked:
        return _skip(f"pip-audit could check none of {len(packages)} packages")
    return _print(checked, len(packages))


def _print(checked: list[dict[str, Any]], count: int) -> int:
    known = [(package, issue) for package in checked for issue in package.get("vulns", [])]
    for package, issue in known:
        fixed = ", ".join(issue.get("fix_versions", [])) or "no version"
        print(f"{package['name']} {package['version']}: {issue['id']}, fixed in {fixed}")
    print(f"{len(checked)} of {count} packages checked: {len(known)} known vulnerabilities")
    return 1 if known else 0


def _skip(reason: str) -> int:
    print(f"audit skipped: {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
