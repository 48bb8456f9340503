"""Draw what the terminal shows for a finished fold: python -m scripts.terminal_picture IN OUT."""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from fsm_hpc.models.progress import print_result
from fsm_hpc.study import result
from fsm_hpc.system.terminal import PlainConsole, styled


def main(source: str, target: str) -> int:
    """Write an SVG of the result's table, as wide as a usual terminal."""
    done = result.read(Path(source))
    if done is None:
        print(f"{source} is not a result.json", file=sys.stderr)
        return 2
    console = PlainConsole(record=True, width=112, file=io.StringIO(), force_terminal=True)
    command = f"dataset={done.dataset} method={done.method} fold={done.fold}"
    console.print(styled(("$", "green"), f" python -m fsm_hpc {command}"))
    print_result(console, done)
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    svg = console.export_svg(title="one fold, from table to proved formula")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.S)  # no font from elsewhere
    Path(target).write_text(svg, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
