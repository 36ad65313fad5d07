import pytest


@pytest.fixture(autouse=True)
def _owners_scan(monkeypatch):
    """Have workers exchange their sums, few as they are here."""
    search = pytest.importorskip("marginboost.engine.cluster.search")
    monkeypatch.setattr(search, "CLIENT_BYTES", 0)


@pytest.fixture(params=["by owner", "all"])
def tree_sums(request, monkeypatch):
    """Have workers own features of trees, or add up the sums of all."""
    engine = pytest.importorskip("marginboost.engine.cluster.trees.engine")
    monkeypatch.setattr(engine, "SHARED_BYTES", 0 if request.param == "by owner" else 1 << 30)


@pytest.fixture(scope="module")
def processes():
    support = pytest.importorskip("cluster_support")  # takes seconds: not for every run
    with support.Processes() as processes:
        yield processes


@pytest.fixture
def client(processes):
    """Return the client of a cluster with three workers, whatever has become of them before."""
    with processes.connect(3) as client:
        yield client
