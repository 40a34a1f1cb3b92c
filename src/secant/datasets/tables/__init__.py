"""Five tables of real data, read from their original files."""

from secant.datasets.tables.bsds300 import bsds300
from secant.datasets.tables.catalogue import TABLES, TableSource
from secant.datasets.tables.gas import gas
from secant.datasets.tables.hepmass import hepmass
from secant.datasets.tables.miniboone import miniboone
from secant.datasets.tables.power import power
from secant.datasets.tables.table import Table

__all__ = ["TABLES", "Table", "TableSource", "bsds300", "gas", "hepmass", "miniboone", "power"]
