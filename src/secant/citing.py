"""Citing: BibTeX entries of the methods used by a fit, from the documentation's bibliography."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import resources
from typing import Any

# The works behind each part; an entry for a class applies to its subclasses.
_SOURCES: dict[str, tuple[str, ...]] = {
    "PathMixin": ("choi2022density",),
    "SecantRatio": ("chen2025diffusion", "albergo2023stochastic"),
    "ISADRE": ("chen2025diffusion", "yu2025density"),
    "CTSM": ("yu2025density",),
    "D3RE": ("chen2025dequantified",),
    "TRE": ("rhodes2020telescoping",),
    "GeodesicMixing": ("kimura2025density",),
    "StagedRatio": ("xiao2022adaptive",),
    "FeaturisedRatio": ("choi2021featurized",),
    "SignedRatio": ("nachman2020neural",),
    "IsotonicRatio": ("zadrozny2002transforming",),
    "BootstrapRatio": ("rubin1981bayesian",),
    "SklearnRatio": ("sugiyama2012matching",),
    "PathEntropy": ("lipman2023flow", "albergo2023stochastic"),
    "DiffusionBridge": ("chen2025dequantified",),
    "VariancePreserving": ("song2020score",),
    "SecantTangentShare": ("geng2025mean",),
    "AlignedSecant": ("chen2025diffusion", "geng2025mean"),
    "JointScoreNetwork": ("song2020sliced",),
    "FourierMLP": ("tancik2020fourier",),
    "ModulatedMLP": ("perez2018film",),
    "RidgeFunctions": ("wang2025projection",),
    "Logistic": ("gutmann2010noise", "gutmann2012noise"),
    "SquaredRatio": ("kanamori2009least",),
    "KullbackLeibler": ("nguyen2010estimating",),
    "Hellinger": ("sugiyama2012matching",),
    "ExponentialWeight": ("zellinger2025binary",),
    "PolynomialWeight": ("zellinger2025binary",),
    "GammaDivergence": ("nagumo2024density",),
    "Trimmed": ("liu2017trimmed",),
    "InfoNCE": ("oord2018representation",),
    "DonskerVaradhan": ("donsker1983asymptotic", "belghazi2018mutual"),
    "MonotoneSpline": ("gregory1982piecewise",),
    "GaussianMixtureReference": ("cappe2009online",),
    "Divergence": ("nguyen2010estimating",),
    "TwoSampleTest": ("lopezpaz2017revisiting", "phipson2010permutation", "liu2020cauchy"),
    "Comparison": ("phipson2010permutation", "liu2020cauchy"),
    "Monitoring": ("vovk2003testing", "volkhonskiy2017inductive", "ville1939etude"),
    "ImportanceWeights": ("shimodaira2000improving", "vehtari2024pareto"),
    "CovariateShift": ("shimodaira2000improving",),
    "MutualInformation": ("donsker1983asymptotic", "liu2020cauchy"),
    "MutualInformationMatrix": ("donsker1983asymptotic", "liu2020cauchy"),
}
_KERNELS = {
    "ulsif": "kanamori2009least",
    "rulsif": "yamada2013relative",
    "kliep": "sugiyama2008direct",
    "kulsif": "kanamori2012statistical",
    "logistic": "zellinger2023adaptive",
}
# A mutual-information result stores its settings as text. The default estimator is a
# classifier near independence and `SecantRatio` otherwise (`secant.tasks.model_choice`).
_DEFAULT_ESTIMATOR = ("Logistic", "SecantRatio")
_ENTRY = re.compile(r"^@(?P<kind>\w+)\{(?P<key>[^,\s]+),\n(?P<fields>.*?)^\}$", re.M | re.S)
_FIELD = re.compile(r"^  (\w+)\s*= \{(.*)\},?$", re.M)


def citation(fitted: object) -> None:
    """Print the BibTeX entries for a fitted estimator, a density or a result.

    Examples:
        >>> import numpy as np, secant
        >>> rng = np.random.default_rng(0)
        >>> x_0, x_1 = rng.normal(0, 1, (200, 1)), rng.normal(0.5, 1, (200, 1))
        >>> ratio = secant.KernelRatio("ulsif", random_state=0).fit_samples(x_0, x_1)
        >>> secant.citation(ratio)  # doctest: +ELLIPSIS
        @software{secant,
        ...
        @article{kanamori2009least,
        ...
    """
    print(bibtex(fitted))


def bibtex(fitted: object) -> str:
    """The text that `citation` prints: secant itself, then each work once."""
    _check(fitted)
    keys = dict.fromkeys(key for part in _parts(fitted, set()) for key in _sources(part))
    return "\n\n".join([_software(), *(works()[key]["bibtex"] for key in keys)])


@cache
def works() -> dict[str, dict[str, str]]:
    """Every work of the bibliography by its key: its fields, and its BibTeX entry as `bibtex`."""
    text = resources.files("secant").joinpath("references.bib").read_text(encoding="utf-8")
    return {
        entry["key"]: {**dict(_FIELD.findall(entry["fields"])), "bibtex": entry[0]}
        for entry in _ENTRY.finditer(text)
    }


def _check(fitted: object) -> None:
    if not _is_ours(fitted) or isinstance(fitted, type):
        raise TypeError(
            "`fitted` must be a fitted estimator, a density or a result of secant; "
            f"got {type(fitted).__name__}."
        )
    if hasattr(fitted, "fit"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(fitted)  # the parts in use are known only after the fit


def _is_ours(part: object) -> bool:
    return type(part).__module__.partition(".")[0] == "secant"


def _parts(part: object, seen: set[int]) -> Iterator[object]:
    """An object of secant and its parts, each once."""
    if id(part) in seen:
        return
    seen.add(id(part))
    held: tuple[object, ...] = ()
    if _is_ours(part):
        yield part
        held = tuple(getattr(part, "__dict__", {}).values())
    elif isinstance(part, Mapping):
        held = tuple(part.values())
    elif isinstance(part, tuple | list):
        held = tuple(part)
    for inner in held:
        yield from _parts(inner, seen)


def _sources(part: Any) -> Iterator[str]:  # noqa: ANN401, recognised by its name
    for kind in type(part).__mro__:
        yield from _SOURCES.get(kind.__name__, ())
    match type(part).__name__:
        case "KernelRatio":
            yield _KERNELS[part.method]
            if part.iterations > 1:
                yield "gruber2024overcoming"
            if part.selection == "lepskii":
                yield "zellinger2023adaptive"
            if part.regularisation != "ridge":
                yield "nguyen2024regularized"
        case "SpectralSecant" if part.order > 1:  # of order 1 it is a plain network
            yield "chen2026onestep"
        case "LogNormalizer" if part.method.startswith("annealing"):
            yield "delmoral2006sequential"
        case "Dequantisation" if part.gaps.any():
            yield "theis2016note"
        case "MutualInformation" | "MutualInformationMatrix":
            yield from _from_text(part.settings)
            if getattr(part, "correction", 0.0):
                yield "efron1993introduction"


def _from_text(settings: Mapping[str, str]) -> Iterator[str]:
    """Works behind the classes named in settings."""
    named = re.findall(r"\w+", settings["estimator"])
    for name in _DEFAULT_ESTIMATOR if named == ["None"] else named:
        yield from _SOURCES.get(name, ())
    if settings["second_opinion"] != "False":
        yield from _SOURCES["PathEntropy"]


def _software() -> str:
    from secant import __version__

    return (
        "@software{secant,\n"
        "  title   = {secant: density-ratio estimation across the density chasm},\n"
        "  author  = {{The secant developers}},\n"
        f"  version = {{{__version__}}}\n"
        "}"
    )
