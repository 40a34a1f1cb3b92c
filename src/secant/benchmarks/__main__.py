"""Command line of the benchmarks: list, run, report."""

from __future__ import annotations

import argparse
from pathlib import Path

from secant.benchmarks.density import DENSITY_SUITES, run_density
from secant.benchmarks.density.rows import DensityRow
from secant.benchmarks.density.suites import DensitySuite
from secant.benchmarks.information import INFORMATION_SUITES, run_information
from secant.benchmarks.information.rows import InformationRow
from secant.benchmarks.information.suites import InformationSuite
from secant.benchmarks.products import Selection
from secant.benchmarks.rows import Row
from secant.benchmarks.runner import run_suite
from secant.benchmarks.suites import SUITES

RESULTS = Path("benchmarks/results")
_OTHERS = ("covariate-shift", "throughput")


def main() -> None:
    """Parse and dispatch."""
    parser = argparse.ArgumentParser(prog="python -m secant.benchmarks", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="show the suites")
    run = commands.add_parser("run", help="run a suite, resuming where it stopped")
    run.add_argument("suite", choices=[*SUITES, *INFORMATION_SUITES, *DENSITY_SUITES, *_OTHERS])
    run.add_argument("--seeds", type=int, help="runs of each entry; else the suite's own number")
    run.add_argument("--part", default="0/1", help="i/n: the share of one of n processes")
    run.add_argument("--match", default="", help="only entries whose task or method contains this")
    commands.add_parser("report", help="write docs/benchmarks.md and README's results")
    arguments = parser.parse_args()
    if arguments.command == "list":
        _list()
    elif arguments.command == "report":
        from secant.benchmarks.report import write_report

        write_report(RESULTS)
    elif arguments.suite == "throughput":
        from secant.benchmarks.throughput import run_throughput

        run_throughput(RESULTS / "throughput.jsonl")
    elif arguments.suite == "covariate-shift":
        from secant.benchmarks.covariate_shift import run as run_covariate_shift

        run_covariate_shift(RESULTS / "covariate-shift.jsonl", arguments.seeds or 20)
    elif arguments.suite in INFORMATION_SUITES:
        _run_information(arguments)
    elif arguments.suite in DENSITY_SUITES:
        _run_density(arguments)
    else:
        _run(arguments)


def _list() -> None:
    for make in SUITES.values():
        suite = make()
        print(f"{suite.name:20s} {len(suite.entries):4d} entries  {suite.about}")
    for build in INFORMATION_SUITES.values():
        _list_product(build())
    for build_density in DENSITY_SUITES.values():
        _list_product(build_density())


def _list_product(suite: InformationSuite | DensitySuite) -> None:
    count = len(suite.tasks) * len(suite.methods)
    print(f"{suite.name:20s} {count:4d} entries  {suite.about}")


def _part(arguments: argparse.Namespace) -> tuple[int, int]:
    index, count = (int(x) for x in arguments.part.split("/"))
    return index, count


def _selection(arguments: argparse.Namespace) -> Selection:
    return Selection(arguments.seeds, _part(arguments), arguments.match)


def _run_information(arguments: argparse.Namespace) -> None:
    suite = INFORMATION_SUITES[arguments.suite]()
    for row in run_information(suite, RESULTS / f"{suite.name}.jsonl", _selection(arguments)):
        _print(
            row,
            f"truth {_number(row.truth)} estimate {_number(row.estimate)}"
            f" ± {_number(row.standard_error)} p {_number(row.p_value)} {_number(row.seconds)} s",
        )


def _run_density(arguments: argparse.Namespace) -> None:
    suite = DENSITY_SUITES[arguments.suite]()
    for row in run_density(suite, RESULTS / f"{suite.name}.jsonl", _selection(arguments)):
        _print(
            row,
            f"x{row.evaluations:<3d} nll {_number(row.nll)} ± {_number(row.nll_error)}"
            f" truth {_number(row.truth)} log Z {_number(row.log_normalizer)}"
            f" ± {_number(row.log_normalizer_error)} {_number(row.seconds)} s {row.peak_mib} MiB",
        )


def _print(row: InformationRow | DensityRow | Row, text: str) -> None:
    print(f"{row.task:34s} {row.method:28s} seed {row.seed} {text} {row.status}", flush=True)
    if row.traceback:
        print(row.traceback, flush=True)


def _run(arguments: argparse.Namespace) -> None:
    suite = SUITES[arguments.suite]()
    if arguments.match:
        suite = type(suite)(
            suite.name,
            suite.about,
            tuple(e for e in suite.entries if arguments.match in f"{e.task.name} | {e.method}"),
        )
    path = RESULTS / f"{suite.name}.jsonl"
    for row in run_suite(suite, path, n_seeds=arguments.seeds or 3, part=_part(arguments)):
        _print(
            row,
            f"x{row.evaluations:<3d} truth {_number(row.truth)} error {_number(row.error)}"
            f" rmse {_number(row.rmse_1)} / {_number(row.rmse_0)} {_number(row.seconds)} s",
        )


def _number(value: float | None) -> str:
    return "      –" if value is None else f"{value:7.3f}"


if __name__ == "__main__":
    main()
