"""The matrix of mutual information: resumption, and p-values for many pairs."""

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from sklearn.linear_model import LogisticRegression

import secant
from secant import MIOptions, SklearnRatio, mutual_information_matrix
from secant.tasks import mi_matrix

OPTIONS = MIOptions(
    SklearnRatio(folds=None), n_folds=2, n_permutations=19, correct=False, second_opinion=False
)


def rows(n=60):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(n, 3))
    x[:, 1] = x[:, 0] + 0.3 * x[:, 1]
    return x


def matrix(**changes):
    return mutual_information_matrix(rows(), options=OPTIONS, random_state=0, **changes)


def test_a_stopped_matrix_holds_its_finished_pairs_and_goes_on_to_the_same_end(
    tmp_path, monkeypatch
):
    whole = matrix()
    estimated, seen = mi_matrix.total_correlation, []

    def stopping(*arguments, **named):
        seen.append(1)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return estimated(*arguments, **named)

    monkeypatch.setattr(mi_matrix, "total_correlation", stopping)
    kept = tmp_path / "pairs.jsonl"
    part = matrix(resume=kept)
    assert part.n_finished == 2
    assert len(part.strongest(3)) == 2
    with kept.open("a", encoding="utf-8") as file:
        file.write('{"pair": [0')  # a line that a stop cut short
    monkeypatch.setattr(mi_matrix, "total_correlation", estimated)
    np.testing.assert_array_equal(matrix(resume=kept).estimate, whole.estimate)
    np.testing.assert_array_equal(part.estimate[0], whole.estimate[0])


def test_pairs_of_other_rows_do_not_count(tmp_path):
    kept = tmp_path / "pairs.jsonl"
    matrix(resume=kept)
    other = mutual_information_matrix(rows() + 1.0, options=OPTIONS, resume=kept, random_state=1)
    assert other.n_finished == 3
    assert len(kept.read_text(encoding="utf-8").splitlines()) == 6


def test_adjusted_p_values_are_those_of_all_pairs():
    found = matrix()
    i, j = np.triu_indices(3, 1)
    expected = false_discovery_control(found.p_value[i, j])
    np.testing.assert_allclose(found.adjusted_p_value[i, j], expected)
    np.testing.assert_allclose(found.adjusted_p_value[j, i], expected)
    assert np.isnan(np.diag(found.adjusted_p_value)).all()


@pytest.mark.parametrize("n", [40, 100])
def test_few_rows_do_not_limit_the_p_value_of_independence(n):
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    y = x + 0.1 * rng.normal(size=n)
    found = secant.mutual_information(
        x,
        y,
        estimator=SklearnRatio(folds=None),
        n_permutations=499,
        correct=False,
        second_opinion=False,
        random_state=0,
    )
    # Of five folds of 8 and of 20 rows: 1/500, where 5/n was the least before.
    assert found.p_value == pytest.approx(1 / 500, rel=0.5)


def test_p_values_of_independent_columns_keep_their_level():
    rng = np.random.default_rng(2)
    p = [
        secant.mutual_information(
            *rng.normal(size=(2, 40)),
            estimator=SklearnRatio(LogisticRegression(), folds=None),
            n_folds=2,
            n_permutations=39,
            correct=False,
            second_opinion=False,
            random_state=seed,
        ).p_value
        for seed in range(60)
    ]
    assert np.mean(np.array(p) <= 0.1) < 0.1 + 4.0 * np.sqrt(0.1 * 0.9 / 60)
