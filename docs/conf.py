"""Settings of the site that `make docs` writes: pages in Markdown, a reference from docstrings."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

import fsm_hpc

project = "fsm_hpc"
version = release = fsm_hpc.__version__
html_title = f"{project} {version}"
author = "The fsm_hpc developers"
copyright = "The fsm_hpc developers"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "offline_math"]
exclude_patterns = ["_extensions"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["copy.js"]
highlight_language = "none"  # of blocks that name none: a tree, an output
smartquotes = False  # --strict has two hyphens
html_copy_source = html_show_sourcelink = False

myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3  # links such as states.md#exit-codes
html_math_renderer = "offline"

default_role = "literal"  # `a` in a docstring is code, as in Markdown
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes of a fitted classifier are described once
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": True}
suppress_warnings = ["ref.ref"]  # labels in inherited docstrings of scikit-learn
python_use_unqualified_type_names = True
