"""What a browser may do on a page that the package writes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fsm_hpc.system.files import PACKAGE
from fsm_hpc.system.pages import content_security_policy

TEMPLATES = sorted(PACKAGE.rglob("*.html"))


def test_a_page_may_run_its_own_script_only_and_reach_no_network() -> None:
    rules = dict(part.strip().split(" ", 1) for part in content_security_policy("x").split(";"))
    assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == "'none'"
    assert rules["script-src"] == "'sha256-LXEWQrcmsEQBYnyp+6wy9chTD7GQPMTbAiWHF5IaSIE='"
    assert "script-src 'none'" in content_security_policy()


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_every_page_states_its_policy_before_anything_else_and_has_no_inline_handler(
    template: Path,
) -> None:
    text = template.read_text(encoding="utf-8")
    assert re.search(r"<[a-z][^>]*\son[a-z]+=", text) is None
    if "<head>" in text:
        head = text.partition("<head>")[2]
        policy = head.index('http-equiv="Content-Security-Policy" content="{{ policy }}"')
        assert policy < min(head.index(tag) for tag in ("<title", "<link", "<style"))
