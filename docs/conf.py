"""Settings of the site that `make docs` writes: pages in Markdown, a reference from docstrings."""

project = "fsm_hpc"
html_title = project
author = "The fsm_hpc developers"
copyright = "The fsm_hpc developers"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
highlight_language = "none"  # of blocks that name none: a tree, an output
smartquotes = False  # --strict has two hyphens
html_copy_source = html_show_sourcelink = False

myst_heading_anchors = 3  # links such as solver.md#11-measured

default_role = "literal"  # `a` in a docstring is code, as in Markdown
napoleon_google_docstring = False
napoleon_use_ivar = True  # attributes of a fitted classifier are described once
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_default_options = {"members": True, "undoc-members": True, "show-inheritance": True}
python_use_unqualified_type_names = True
