"""How reports look: pages, the style of figures, numbers as text.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.

What products and the command line use is ``__all__``; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.report.charts import (
        DotColumn,
        DotLine,
        DotPlot,
        Panel,
        Style,
        draw_curves,
        draw_dots,
        draw_ranges,
        range_bars,
        styles_for,
    )
    from coalface.report.figure_style import standalone
    from coalface.report.html_page import package_versions, page, write_page
    from coalface.report.number_format import factor, listed, number
else:
    __getattr__, __dir__ = door_of(__name__)

__all__ = [
    "DotColumn",
    "DotLine",
    "DotPlot",
    "Panel",
    "Style",
    "draw_curves",
    "draw_dots",
    "draw_ranges",
    "factor",
    "listed",
    "number",
    "package_versions",
    "page",
    "range_bars",
    "standalone",
    "styles_for",
    "write_page",
]
