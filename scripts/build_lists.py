"""Write the shipped lists of functions and plans: python -m scripts.build_lists"""

from __future__ import annotations

import gzip
import json

from fsm_hpc.formulas.functions import functions, listed_functions
from fsm_hpc.formulas.language import Language
from fsm_hpc.formulas.shipped_lists import FOLDER, SHIPPED, path_of, shipped
from fsm_hpc.search.solvers.native.plans import listed_plans


def content_of(size: int, language: Language) -> bytes:
    """The content of the file of a size; equal lists give equal bytes."""
    listed = listed_functions(size, language)
    lists = {
        "functions": [function.to_list() for function in listed],
        "plans": [plan.to_list() for plan in listed_plans(listed, False)],
        "wide plans": [plan.to_list() for plan in listed_plans(listed, True)],
    }
    return gzip.compress(json.dumps(lists, separators=(",", ":")).encode(), mtime=0)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for language, sizes in SHIPPED.items():
        for size in sizes:
            path_of(size, language).write_bytes(content_of(size, language))
            shipped.cache_clear()
            functions.cache_clear()


if __name__ == "__main__":
    main()
