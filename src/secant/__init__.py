"""secant: density-ratio estimation in JAX.

From samples of p_0 and p_1, learn log r(x) = log p_1(x) − log p_0(x).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# Names are imported on first use, so that `secant --help` does not wait for JAX.
# Type checkers read the imports, Python reads the table; a test checks that they agree.
if TYPE_CHECKING:
    from secant import (
        bases,
        benchmarks,
        curricula,
        datasets,
        diagnostics,
        integration,
        models,
        paths,
        schedules,
        targets,
        tasks,
        time_samplers,
    )
    from secant._host.jax_process import keep_programs
    from secant.citing import citation
    from secant.estimators import (
        CTSM,
        D3RE,
        ISADRE,
        TRE,
        AdaptiveMargins,
        BootstrapRatio,
        ChasmSwitch,
        ClassifierRatio,
        DREInfinity,
        FeaturisedRatio,
        GaussianMixtures,
        GaussianMoments,
        Identity,
        IsotonicRatio,
        KernelRatio,
        PathEntropy,
        SecantRatio,
        SignedRatio,
        SklearnRatio,
        StagedRatio,
        Standardise,
    )
    from secant.exceptions import (
        AtomsWarning,
        CheckpointWarning,
        ClippedRatioWarning,
        ConstantColumnWarning,
        DivergenceWarning,
        GaussianStartWarning,
        NormaliserWarning,
        OutlierWarning,
        OverlapError,
        OverlapWarning,
        PrecisionWarning,
        TrainingWarning,
        UntrainedWarning,
    )
    from secant.model_files import ModelFileError, load
    from secant.tasks import (
        Check,
        CheckError,
        Comparison,
        CovariateShift,
        DensityEstimator,
        DriftDetector,
        MIEstimator,
        MIOptions,
        Monitoring,
        MutualInformation,
        MutualInformationMatrix,
        PerformanceEstimate,
        check,
        chi2_divergence,
        compare,
        detect_drift,
        estimate_performance,
        importance_weights,
        jensen_shannon,
        kl_divergence,
        monitor,
        mutual_information,
        mutual_information_matrix,
        total_correlation,
        total_variation,
        two_sample_test,
    )
    from secant.training import CheckpointError, OptimalTransport, Training

__version__ = "0.1.0"

__all__ = [
    "CTSM",
    "D3RE",
    "ISADRE",
    "TRE",
    "AdaptiveMargins",
    "AtomsWarning",
    "BootstrapRatio",
    "ChasmSwitch",
    "Check",
    "CheckError",
    "CheckpointError",
    "CheckpointWarning",
    "ClassifierRatio",
    "ClippedRatioWarning",
    "Comparison",
    "ConstantColumnWarning",
    "CovariateShift",
    "DREInfinity",
    "DensityEstimator",
    "DivergenceWarning",
    "DriftDetector",
    "FeaturisedRatio",
    "GaussianMixtures",
    "GaussianMoments",
    "GaussianStartWarning",
    "Identity",
    "IsotonicRatio",
    "KernelRatio",
    "MIEstimator",
    "MIOptions",
    "ModelFileError",
    "Monitoring",
    "MutualInformation",
    "MutualInformationMatrix",
    "NormaliserWarning",
    "OptimalTransport",
    "OutlierWarning",
    "OverlapError",
    "OverlapWarning",
    "PathEntropy",
    "PerformanceEstimate",
    "PrecisionWarning",
    "SecantRatio",
    "SignedRatio",
    "SklearnRatio",
    "StagedRatio",
    "Standardise",
    "Training",
    "TrainingWarning",
    "UntrainedWarning",
    "bases",
    "benchmarks",
    "check",
    "chi2_divergence",
    "citation",
    "compare",
    "curricula",
    "datasets",
    "detect_drift",
    "diagnostics",
    "estimate_performance",
    "importance_weights",
    "integration",
    "jensen_shannon",
    "keep_programs",
    "kl_divergence",
    "load",
    "models",
    "monitor",
    "mutual_information",
    "mutual_information_matrix",
    "paths",
    "schedules",
    "targets",
    "tasks",
    "time_samplers",
    "total_correlation",
    "total_variation",
    "two_sample_test",
]

_HOMES = {
    "secant.citing": ("citation",),
    "secant.model_files": (
        "ModelFileError",
        "load",
    ),
    "secant.estimators": (
        "CTSM",
        "D3RE",
        "ISADRE",
        "TRE",
        "AdaptiveMargins",
        "BootstrapRatio",
        "ChasmSwitch",
        "ClassifierRatio",
        "DREInfinity",
        "FeaturisedRatio",
        "GaussianMixtures",
        "GaussianMoments",
        "Identity",
        "IsotonicRatio",
        "KernelRatio",
        "PathEntropy",
        "SecantRatio",
        "SignedRatio",
        "SklearnRatio",
        "StagedRatio",
        "Standardise",
    ),
    "secant.exceptions": (
        "AtomsWarning",
        "CheckpointWarning",
        "ClippedRatioWarning",
        "ConstantColumnWarning",
        "DivergenceWarning",
        "GaussianStartWarning",
        "NormaliserWarning",
        "OutlierWarning",
        "OverlapError",
        "OverlapWarning",
        "PrecisionWarning",
        "TrainingWarning",
        "UntrainedWarning",
        "UntrainedWarning",
    ),
    "secant._host.jax_process": ("keep_programs",),
    "secant.tasks": (
        "Check",
        "CheckError",
        "Comparison",
        "CovariateShift",
        "DensityEstimator",
        "DriftDetector",
        "MIEstimator",
        "MIOptions",
        "Monitoring",
        "MutualInformation",
        "MutualInformationMatrix",
        "PerformanceEstimate",
        "check",
        "chi2_divergence",
        "compare",
        "detect_drift",
        "estimate_performance",
        "importance_weights",
        "jensen_shannon",
        "kl_divergence",
        "monitor",
        "mutual_information",
        "mutual_information_matrix",
        "total_correlation",
        "total_variation",
        "two_sample_test",
    ),
    "secant.training": (
        "CheckpointError",
        "OptimalTransport",
        "Training",
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}


if not TYPE_CHECKING:  # type checkers should report names not imported above

    def __getattr__(name: str) -> object:
        """Import a public name on first use, and keep it."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        home = _HOME_OF.get(name)
        if home is None:
            return import_module(f"{__name__}.{name}")
        found = globals()[name] = getattr(import_module(home), name)
        return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
