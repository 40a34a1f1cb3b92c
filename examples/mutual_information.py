"""Mutual information from a CSV.

A table with a response and three columns: one with a linear effect, one with a quadratic effect and
one without effect. Correlation misses the second. Bars are 95 % intervals.
"""

import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import secant
from secant.tables.files import read_table

rng = np.random.default_rng(0)
dose, age, noise = rng.normal(size=(3, 800))
response = 0.6 * dose + age**2 + 0.5 * rng.normal(size=800)
file = Path(tempfile.mkdtemp()) / "patients.csv"
columns = np.stack([dose, age, noise, response], axis=1)
np.savetxt(file, columns, delimiter=",", header="dose,age,noise,response", comments="")

table = read_table(file)
names = ["dose", "age", "noise"]
found = [
    secant.mutual_information(table[name].to_numpy(), table["response"].to_numpy(), random_state=0)
    for name in names
]

figure, axes = plt.subplots(figsize=(6, 3.2))
places = np.arange(len(names))
axes.errorbar(
    places, [f.estimate for f in found], yerr=[1.96 * f.standard_error for f in found], fmt="o"
)
correlations = [abs(np.corrcoef(table[n].to_numpy(), response)[0, 1]) for n in names]
axes.plot(places, correlations, "x", color="grey", label="absolute correlation")
axes.axhline(0.0, color="k", linewidth=0.5)
axes.set(ylabel="mutual information, nats")
axes.set_xticks(places, [f"{n}\np = {f.p_value:.3f}" for n, f in zip(names, found, strict=True)])
axes.legend(frameon=False)
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "mutual_information.png", dpi=110)
