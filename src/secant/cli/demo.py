"""`secant demo`: a log ratio of 40 nats and a real table, with figures."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import typer

from secant.cli.command import command
from secant.cli.session import Session


@dataclass(frozen=True)
class _Shown:
    """The result of one method."""

    method: str
    estimate: float
    rmse: float
    seconds: float


@command("demo", trains=True)
def demo(
    session: Session,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for pictures and report.")
    ] = Path("demo-output"),
) -> None:
    """Estimate a log ratio of 40 nats, and compare two parts of a real table."""
    output.mkdir(parents=True, exist_ok=True)
    session.show("1. The chasm: 160 dimensions, 40 nats between the two samples\n")
    truth, shown = _chasm(output / "chasm.png", session)
    header = ("method", "mean log ratio", "RMSE, row by row", "seconds")
    session.show_table(header, [("exact", f"{truth:.2f}", "", ""), *map(_cells, shown)])
    session.show("\n2. A real table: breast cancer, malignant (x_0) against benign (x_1)\n")
    table = _breast_cancer(output / "breast-cancer.png", session)
    session.show("\n".join(f"   {name:42s} {value}" for name, value in table.items()))
    report = output / "report.html"
    _write_report(report, output, truth, shown, table)
    session.show(f"\nPictures: {output / 'chasm.png'}, {output / 'breast-cancer.png'}")
    session.show(f"Report:   {report}")
    session.finish(
        {
            "truth": truth,
            "chasm": [vars(s) for s in shown],
            "breast_cancer": table,
            "report": str(report),
        }
    )


def _cells(s: _Shown) -> tuple[str, str, str, str]:
    return s.method, f"{s.estimate:.2f}", f"{s.rmse:.2f}", f"{s.seconds:.0f}"


def _chasm(picture: Path, session: Session) -> tuple[float, list[_Shown]]:
    import jax
    import numpy as np

    import secant
    from secant.datasets import block_gaussians
    from secant.models import ResidualMLP, SpectralSecant
    from secant.report.figures import Panel, scatter_figure

    pair, seed = block_gaussians(160), session.seed
    progress = False if session.quiet else None
    training = secant.Training(**{"steps": 2500, **session.training})  # type: ignore[arg-type]
    trunk = ResidualMLP(width=256, depth=2)
    methods = {
        "SecantRatio (default)": secant.SecantRatio(
            training=secant.Training(steps=500), progress=progress, random_state=seed
        ),
        "SecantRatio (plain network, no anchor)": secant.SecantRatio(
            SpectralSecant(trunk=trunk),
            anchor=False,
            scaling=secant.Standardise(),
            training=replace(training, patience=None),
            progress=progress,
            random_state=seed,
        ),
        "ISADRE (two evaluations, no anchor)": secant.ISADRE(
            n_steps=2,
            training=replace(training, patience=None),
            progress=progress,
            random_state=seed,
        ),
        "Logistic classifier (NCE)": secant.ClassifierRatio(
            trunk=trunk, training=training, progress=progress, random_state=seed
        ),
    }
    rows = pair.draw_1(jax.random.key(seed + 1), 5000)
    x_1, exact = np.asarray(rows), np.asarray(pair.log_ratio(rows), dtype=np.float64)
    shown, panels = [], []
    for name, estimator in methods.items():
        began = time.perf_counter()
        with warnings.catch_warnings():
            # The samples do not overlap on purpose.
            warnings.simplefilter("ignore", secant.OverlapWarning)
            estimator.fit_sampler(pair.sample)
        seconds = time.perf_counter() - began
        estimated = estimator.log_ratio(x_1)
        rmse = float(np.sqrt(np.mean((estimated - exact) ** 2)))
        shown.append(_Shown(name, float(estimated.mean()), rmse, seconds))
        panels.append(Panel(f"{name}\nmean {estimated.mean():.1f} nats", exact, estimated))
    scatter_figure(panels, picture)
    return float(exact.mean()), shown


def _breast_cancer(picture: Path, session: Session) -> dict[str, str]:
    import numpy as np
    from sklearn.datasets import load_breast_cancer
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    import secant
    from secant.report.figures import histogram_figure

    X, y = load_breast_cancer(return_X_y=True)
    log_ratio = np.empty(y.size)
    seed, progress = session.seed, False if session.quiet else None
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    training = secant.Training(steps=500, evaluate_every=100)
    for train, test in folds.split(X, y):
        estimator = secant.SecantRatio(training=training, progress=progress, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", secant.OverlapWarning)
            estimator.fit(X[train], y[train])
        log_ratio[test] = estimator.log_ratio(X[test])
    parts = [log_ratio[y == k] for k in (0, 1)]
    histogram_figure(
        parts[0],
        parts[1],
        picture,
        title="Breast cancer: out-of-fold score of every row",
        labels=("malignant (x_0)", "benign (x_1)"),
    )
    right = np.mean((log_ratio > 0.0) == (y == 1))
    return {
        "rows, columns": f"{X.shape[0]}, {X.shape[1]}",
        "mean log ratio, benign (KL(p_1‖p_0))": _with_error(parts[1]),
        "mean log ratio, malignant (−KL(p_0‖p_1))": _with_error(parts[0]),
        "median log ratio, benign; malignant": " nats; ".join(
            f"{np.median(p):.1f}" for p in parts[::-1]
        )
        + " nats",
        "rows on the right side of 0": f"{right:.1%}",
        "area under the ROC curve": f"{roc_auc_score(y, log_ratio):.4f}",
    }


def _with_error(values: object) -> str:
    import numpy as np

    array = np.asarray(values)
    return f"{array.mean():.1f} ± {array.std() / np.sqrt(array.size):.1f} nats"


def _write_report(
    path: Path, output: Path, truth: float, shown: list[_Shown], table: dict[str, str]
) -> None:
    from secant._host.provenance import machine
    from secant.report.blocks import Block, Pairs, Picture, Section, Text
    from secant.report.page import Page, write_page
    from secant.report.tables import text_table

    header = ("method", "mean log ratio", "RMSE, row by row", "seconds")
    rows = [*map(_cells, shown)]
    chasm: list[Block] = [
        Text(
            f"The exact mean log ratio of these rows is {truth:.2f} nats: a classifier between the "
            "samples is always right, so its loss does not depend on the size of the ratio."
        ),
        text_table("Methods on 5,000 rows of p₁", header, rows),
        Picture(output / "chasm.png", "Estimated against exact log ratio, one panel per method"),
    ]
    real: list[Block] = [
        Text(
            "Malignant rows are x₀, benign rows are x₁; scores are out of fold. A "
            "positive score means more likely benign."
        ),
        Pairs(list(table.items())),
        Picture(
            output / "breast-cancer.png",
            "Histogram of the log ratio for malignant and benign rows",
        ),
    ]
    page = Page(
        "A chasm and a table",
        (
            Section("A forty-nat chasm in 160 dimensions", chasm),
            Section("Breast cancer, out of fold", real),
        ),
        eyebrow="secant · demonstration",
        footer=machine(),
    )
    write_page(path, page)
