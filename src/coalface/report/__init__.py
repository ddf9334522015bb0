"""How reports look: pages, the style of figures, numbers as text.

What products and the command line use; names are loaded when they are first used.
"""

from typing import TYPE_CHECKING

from coalface.doors import door_of

if TYPE_CHECKING:
    from coalface.report.charts import DotColumn as DotColumn, DotLine as DotLine, DotPlot as DotPlot, Panel as Panel
    from coalface.report.charts import Style as Style, draw_curves as draw_curves, draw_dots as draw_dots
    from coalface.report.charts import draw_ranges as draw_ranges, range_bars as range_bars, styles_for as styles_for
    from coalface.report.figure_style import standalone as standalone
    from coalface.report.html_page import package_versions as package_versions, page as page, write_page as write_page
    from coalface.report.number_format import factor as factor, listed as listed, number as number
else:
    __getattr__, __dir__ = door_of(__name__)
