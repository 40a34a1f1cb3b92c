"""Five tables of real data, read from their original files."""

from secant_bench.real_tables.bsds300 import bsds300
from secant_bench.real_tables.catalogue import TABLES, TableSource
from secant_bench.real_tables.gas import gas
from secant_bench.real_tables.hepmass import hepmass
from secant_bench.real_tables.miniboone import miniboone
from secant_bench.real_tables.power import power
from secant_bench.real_tables.table import RealTable

__all__ = ["TABLES", "RealTable", "TableSource", "bsds300", "gas", "hepmass", "miniboone", "power"]
