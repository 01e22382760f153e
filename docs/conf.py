"""How Sphinx builds the site; `docs/build.py` runs it on the pages that it has laid out."""

from typing import Any

from pygments.lexers.special import TextLexer

project = "Millrace"
extensions = ["myst_parser"]
myst_heading_anchors = 4  # headings are linked to as GitHub does
myst_enable_extensions = ["attrs_block"]
exclude_patterns = ["_templates"]
templates_path = ["_templates"]
suppress_warnings = ["myst.header"]  # a changelog may begin with a heading of the second level

html_theme = "furo"
html_title = "Millrace"
html_favicon = "_static/icon.svg"
html_static_path = ["_static"]
html_css_files = ["millrace.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
html_theme_options = {"top_of_page_buttons": []}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def setup(app: Any) -> None:
    for name in ("mermaid", "mlir"):  # shown as they stand: no lexer knows them
        app.add_lexer(name, TextLexer)
