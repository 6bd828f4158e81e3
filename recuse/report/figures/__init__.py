"""What a drawing is made of. A figure is a frozen value in a file here, and a template of the same name in
templates/figures/ that shows it as `it`: `ForestPlot` finds forest_plot.html.j2."""

from recuse.report.figures.forest_plot import Forest, ForestPlot
from recuse.report.figures.heat_map import HeatMaps, cell_matrix, deviation_maps, magnitude_maps, main_matrices
from recuse.report.figures.pictures import Ladders, Scatters, Trends, ladders, scatters, trends
from recuse.report.figures.plain_table import Cell, DetailTable, Table, cross_table, detail_cell, number_cell, table

__all__ = [
    "Cell", "DetailTable", "Forest", "ForestPlot", "HeatMaps", "Ladders", "Scatters", "Table", "Trends", "cell_matrix",
    "cross_table", "detail_cell", "deviation_maps", "ladders", "magnitude_maps", "main_matrices",
    "number_cell", "scatters", "table", "trends",
]  # fmt: skip
