"""What a drawing is made of. A figure is a frozen dataclass in a file here, and a template of the same name in
templates/figures/ that shows it as `it`: question templates say `{{ draw(it.<key>) }}` and the two find each other.
"""

from recuse.report.figures.bars import Bars, bars
from recuse.report.figures.forest_plot import ForestPlot, forest_plot
from recuse.report.figures.heat_map import HeatMap, HeatMaps, deviation_maps, magnitude_maps, ranking_maps
from recuse.report.figures.ladder import Ladder, Rung, ladders
from recuse.report.figures.slopes import Slope, slopes
from recuse.report.figures.table import Cell, Table, number_cell

__all__ = [
    "Bars",
    "Cell",
    "ForestPlot",
    "HeatMap",
    "HeatMaps",
    "Ladder",
    "Rung",
    "Slope",
    "Table",
    "bars",
    "deviation_maps",
    "forest_plot",
    "ladders",
    "magnitude_maps",
    "number_cell",
    "ranking_maps",
    "slopes",
]
