"""When a loss has not improved for long enough."""

from marginboost.boosting.stopping import EarlyStopping


def ends_at(losses, n_iter_no_change, tol):
    stopping = EarlyStopping(n_iter_no_change, tol)
    return next((at for at, loss in enumerate(losses) if stopping.is_over(loss)), None)


def test_when_a_loss_has_not_improved():
    assert ends_at([3, 2, 1, 1, 1, 1], 2, 0.0) == 4
    assert ends_at([3, 2, 1, 0.5, 0.2], 1, 0.0) is None
    assert ends_at([1, 2, 3, 0.5, 2, 2, 2], 3, 0.0) == 6
    assert ends_at([1, 2, 3, 0.5, 2, 2, 2], 2, 0.0) == 2
    # What falls by little adds up.
    assert ends_at([1 - 0.04 * t for t in range(20)], 3, 0.1) is None
    assert ends_at([1 - 0.04 * t for t in range(20)], 2, 0.1) == 2
