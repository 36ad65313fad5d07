"""How the documentation is built: ``make docs``. It needs no network."""

import re
import sys
from pathlib import Path

import marginboost

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from reference_pages import write_pages  # noqa: E402 - from this folder

project = "marginboost"
author = "The marginboost developers"
copyright = author
release = version = marginboost.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["gallery/*.ipynb", "gallery/*.py", "sg_execution_times.rst"]

# The pages are read on code hosts too, so they keep to plain Markdown.
myst_heading_anchors = 3
suppress_warnings = ["config.cache"]

default_role = "literal"  # docstrings put names between single backticks
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
maximum_signature_line_length = 88  # longer ones have a line per parameter
napoleon_google_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"marginboost {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["versions.js", "site.js"]
copybutton_exclude = ".linenos, .gp, .go"

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"(demo|server)\.py",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
}


def keep_underscores(app, what, name, obj, options, lines):
    """Keep shapes such as (n_iter_,) from being read as links, which reStructuredText does."""
    lines[:] = [re.sub(r"(?<=\w)_(?=[,)])", r"\\_", x) if " of shape (" in x else x for x in lines]


def keep_within(app, name, source):
    """Turn links out of this folder, which are for code hosts, into what a built page can have."""
    folder = (HERE / name).parent

    def replace(link):
        target = (folder / link[2].partition("#")[0]).resolve()
        if target == HERE.parent / "CHANGELOG.md":
            return f"[{link[1]}](changelog.md)"
        if target.is_relative_to(HERE):
            return link[0]
        return f"{link[1]} (`{target.relative_to(HERE.parent).as_posix()}` in the repository)"

    source[0] = re.sub(r"\[([^]]+)\]\((\.\./[^)]+)\)", replace, source[0])


def setup(app):
    """Write the reference's pages, and tell Sphinx of the functions above."""
    write_pages(HERE / "api")
    app.connect("autodoc-process-docstring", keep_underscores, priority=400)  # before napoleon
    app.connect("source-read", keep_within)
