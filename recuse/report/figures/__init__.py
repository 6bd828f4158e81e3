"""What a report panel can draw. Each figure is one file here (what to draw, in places and words) and one macro in
templates/figures/ (how it looks)."""

from recuse.report.figures.bars import Bars, bars
from recuse.report.figures.forest_plot import ForestPlot, forest_plot
from recuse.report.figures.heat_map import HeatMap, deviation_maps, magnitude_maps, ranking_maps
from recuse.report.figures.ladder import Ladder, Rung, ladders
from recuse.report.figures.slopes import Slope, slopes
from recuse.report.figures.table import Cell, Table

__all__ = [
    "Bars",
    "Cell",
    "ForestPlot",
    "HeatMap",
    "Ladder",
    "Rung",
    "Slope",
    "Table",
    "bars",
    "deviation_maps",
    "forest_plot",
    "ladders",
    "magnitude_maps",
    "ranking_maps",
    "slopes",
]
