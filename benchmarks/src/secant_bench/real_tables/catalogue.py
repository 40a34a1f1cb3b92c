"""The tables by name: their sizes, original files and sources."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from secant_bench.real_tables.bsds300 import HOME as BSDS300
from secant_bench.real_tables.bsds300 import bsds300
from secant_bench.real_tables.gas import HOME as GAS
from secant_bench.real_tables.gas import gas
from secant_bench.real_tables.hepmass import HOME as HEPMASS
from secant_bench.real_tables.hepmass import hepmass
from secant_bench.real_tables.miniboone import HOME as MINIBOONE
from secant_bench.real_tables.miniboone import miniboone
from secant_bench.real_tables.power import HOME as POWER
from secant_bench.real_tables.power import power
from secant_bench.real_tables.table import RealTable

__all__ = ["TABLES", "TableSource"]


@dataclass(frozen=True)
class TableSource:
    """A table that can be prepared from its original files.

    Attributes:
        name: of the table, in lower case.
        about: a description of its rows.
        files: the original files, one set of which a folder must contain.
        home: their source.
        n_columns: number of columns of the prepared table.
        n_rows: numbers of training, validation and test rows, from the files as published.
        prepare: a function that prepares it from a folder with the original files.
    """

    name: str
    about: str
    files: str
    home: str
    n_columns: int
    n_rows: tuple[int, int, int]
    prepare: Callable[[str | Path], RealTable]


TABLES: dict[str, TableSource] = {
    source.name: source
    for source in (
        TableSource(
            "power",
            "a household's electricity, minute by minute",
            "household_power_consumption.zip or .txt",
            POWER,
            6,
            (1_659_917, 184_435, 204_928),
            power,
        ),
        TableSource(
            "gas",
            "sixteen chemical sensors in mixtures of gases",
            "ethylene_CO.txt",
            GAS,
            8,
            (852_174, 94_685, 105_206),
            gas,
        ),
        TableSource(
            "hepmass",
            "collisions that make a new particle",
            "1000_train.csv and 1000_test.csv, or either with .gz",
            HEPMASS,
            21,
            (315_123, 35_013, 174_987),
            hepmass,
        ),
        TableSource(
            "miniboone",
            "electron neutrinos and muon neutrinos",
            "MiniBooNE_PID.txt; or data.npy; or val.npy and test.npy",
            MINIBOONE,
            43,
            (29_556, 3_284, 3_648),
            miniboone,
        ),
        TableSource(
            "bsds300",
            "small patches of photographs",
            "BSDS300.hdf5; or folders train and test of jpg images",
            BSDS300,
            63,
            (1_000_000, 50_000, 250_000),
            bsds300,
        ),
    )
}
