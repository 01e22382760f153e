"""Draws what the site shows of the numbers kept in docs/data, and measures nothing: fronts, curves of knobs, tables.

python -m bench.site     # 2 s; then docs/build.py
"""

from bench.site import blocks, gallery, knobs
from bench.site.kept import draw

for name, svg in {**gallery.pictures(), **knobs.pictures()}.items():
    draw(name, svg)
blocks.write()
