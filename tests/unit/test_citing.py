"""The works behind each estimator, density and result."""

import re
from importlib import resources

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge

import secant
from secant.citing import _KERNELS, _SOURCES, bibtex, works
from secant.curricula import SecantTangentShare
from secant.paths import DiffusionBridge
from secant.schedules import VariancePreserving

RNG = np.random.default_rng(0)
X_0, X_1 = RNG.normal(0.0, 1.0, (300, 2)), RNG.normal(0.5, 1.0, (300, 2))
QUICK = secant.SklearnRatio(LogisticRegression(), folds=None)

NEURAL = {
    "choi2022density chen2025diffusion chen2026onestep albergo2023stochastic": secant.SecantRatio(),
    "choi2022density chen2025diffusion yu2025density perez2018film geng2025mean": (
        secant.ISADRE(curriculum=SecantTangentShare(0.5))
    ),
    "choi2022density yu2025density chen2025dequantified": secant.CTSM(),
    "choi2022density": secant.DREInfinity(),
    "choi2022density song2020sliced": secant.DREInfinity(joint=True),
    "choi2022density chen2025dequantified": secant.D3RE(),
    "choi2022density chen2025dequantified song2020score": secant.D3RE(
        path=DiffusionBridge(VariancePreserving())
    ),
    "choi2022density rhodes2020telescoping": secant.TRE(),
    "gutmann2010noise gutmann2012noise": secant.ClassifierRatio(),
    "oord2018representation": secant.ClassifierRatio("infonce"),
    "nagumo2024density": secant.ClassifierRatio("gamma"),
    "zellinger2025binary": secant.ClassifierRatio("ew"),
    "choi2022density rhodes2020telescoping kimura2025density": secant.TRE(
        waymarks=secant.targets.GeodesicMixing()
    ),
    "nguyen2010estimating liu2017trimmed wang2025projection": secant.ClassifierRatio(
        secant.targets.Trimmed(), trunk=secant.models.RidgeFunctions()
    ),
}
DIRECT = {
    "kanamori2009least": secant.KernelRatio(),
    "yamada2013relative": secant.KernelRatio("rulsif"),
    "sugiyama2008direct": secant.KernelRatio("kliep", n_centers=10),
    "kanamori2012statistical gruber2024overcoming": secant.KernelRatio("kulsif", iterations=3),
    "kanamori2012statistical zellinger2023adaptive": secant.KernelRatio(
        "kulsif", selection="lepskii"
    ),
    "kanamori2009least nguyen2024regularized": secant.KernelRatio(regularisation="flow"),
    "zellinger2023adaptive": secant.KernelRatio("logistic", n_centers=10),
    "sugiyama2012matching": secant.SklearnRatio(),
    "xiao2022adaptive kanamori2009least": secant.StagedRatio(secant.KernelRatio()),
}


def keys(text):
    return re.findall(r"^@\w+\{(\S+),", text, re.M)


def expected(names):
    return {"secant", *names.split()}


@pytest.mark.parametrize("names", NEURAL, ids=lambda names: type(NEURAL[names]).__name__)
def test_a_neural_estimator_cites_what_it_resolved(names):
    estimator = NEURAL[names]
    for part, value in vars(estimator._method(1000, 2)).items():
        setattr(estimator, f"{part}_", value)
    estimator.diagnostics_ = None  # as after a fit, without the training
    assert set(keys(bibtex(estimator))) == expected(names)


@pytest.mark.parametrize("names", DIRECT)
def test_a_direct_estimator_cites_its_method(names, capsys):
    secant.citation(DIRECT[names].set_params(random_state=0).fit_samples(X_0, X_1))
    found = keys(capsys.readouterr().out)
    assert len(found) == len(set(found))
    assert set(found) == expected(names)


def test_a_fit_along_the_path_cites_flow_matching():
    fitted = secant.PathEntropy()
    fitted.path_ = secant.paths.DiffusionInterpolant()
    assert set(keys(bibtex(fitted))) == expected("lipman2023flow albergo2023stochastic")


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_results_cite_their_fits_and_their_own_sources():
    kl = secant.kl_divergence(X_0, X_1, estimator=QUICK, random_state=0)
    assert set(keys(bibtex(kl))) == expected("nguyen2010estimating sugiyama2012matching")
    weights = secant.importance_weights(X_0, X_1, estimator=QUICK, random_state=0)
    assert "shimodaira2000improving" in keys(bibtex(weights))
    shift = secant.CovariateShift(Ridge(), QUICK, random_state=0).fit(X_0, X_0[:, 0], X_1)
    assert {"shimodaira2000improving", "sugiyama2012matching"} <= set(keys(bibtex(shift)))
    found = secant.compare(X_0, X_1, estimator=QUICK, random_state=0)
    assert {"phipson2010permutation", "sugiyama2012matching"} <= set(keys(bibtex(found)))


def test_mutual_information_cites_by_its_settings():
    options = {"correct": False, "second_opinion": False, "n_permutations": 19, "random_state": 0}
    x, y = X_0[:, 0], X_0[:, 1]
    found = secant.mutual_information(x, y, estimator=QUICK, **options)
    assert set(keys(bibtex(found))) == expected(
        "donsker1983asymptotic liu2020cauchy sugiyama2012matching"
    )


def test_the_default_of_mutual_information_is_a_classifier_and_the_secant():
    settings = {"estimator": "None", "second_opinion": "True"}
    found = secant.MutualInformation(
        estimate=0.1,
        standard_error=0.1,
        p_value=0.5,
        pointwise=None,
        correction=0.01,
        base="nats",
        confidence=0.95,
        is_normalised=True,
        diagnostics=(),
        settings=settings,
    )
    assert {"gutmann2010noise", "chen2025diffusion", "lipman2023flow", "efron1993introduction"} <= (
        set(keys(bibtex(found)))
    )


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_density_cites_its_base_and_its_ratio():
    counts = np.round(2.0 * X_0)
    density = secant.DensityEstimator(
        "copula", estimator=QUICK, dequantise="auto", random_state=0
    ).fit(counts)
    assert {"gregory1982piecewise", "theis2016note", "sugiyama2012matching"} <= (
        set(keys(bibtex(density)))
    )


@pytest.mark.parametrize("foreign", [LogisticRegression(), 3.0, None, secant.SecantRatio])
def test_a_foreign_object_is_refused(foreign):
    with pytest.raises(TypeError, match="fitted estimator, a density or a result of secant; got"):
        secant.citation(foreign)


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        secant.citation(secant.SecantRatio())


def test_every_source_is_a_work_of_the_bibliography():
    named = {key for keys in _SOURCES.values() for key in keys} | set(_KERNELS.values())
    assert named - works().keys() == set()
    assert all({"title", "author", "year", "bibtex"} <= work.keys() for work in works().values())


def test_every_entry_of_the_file_is_read():
    text = resources.files("secant").joinpath("references.bib").read_text("utf-8")
    assert list(works()) == keys(text)


def test_every_class_with_sources_exists():
    import secant.bases.margins
    import secant.bases.references

    homes = [
        secant,
        secant.paths,
        secant.schedules,
        secant.curricula,
        secant.models,
        secant.targets,
        secant.tasks,
        secant.bases.references,
        secant.bases.margins,
        secant.estimators.neural,
        secant.tasks.divergence,
        secant.tasks.two_sample,
        secant.tasks.comparison_result,
        secant.tasks.importance,
    ]
    assert [name for name in _SOURCES if not any(hasattr(home, name) for home in homes)] == []
