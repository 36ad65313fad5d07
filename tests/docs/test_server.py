"""The server of the docs: it is examples/server.py, and it answers."""

import asyncio
import importlib.util
import json

import numpy as np
import pytest
from page_support import ROOT

from marginboost import MarginBoostClassifier

SERVER = ROOT / "examples" / "server.py"


def test_the_page_shows_the_example():
    page = (ROOT / "docs" / "serving.md").read_text("utf-8")
    assert f"```python\n{SERVER.read_text('utf-8')}```\n" in page


class Client:
    """Call an application by its protocol, ASGI, without a socket."""

    def __init__(self, app, model, table):
        self._app, self.model, self.table = app, model, table

    def ask(self, method, path, content=None):
        """Return the status and what the answer holds."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": [(b"content-type", b"application/json")],
        }
        sent = []

        async def receive():
            return {"type": "http.request", "body": json.dumps(content).encode()}

        async def send(message):
            sent.append(message)

        asyncio.run(self._app(scope, receive, send))
        body = b"".join(message.get("body", b"") for message in sent)
        return sent[0]["status"], json.loads(body)


@pytest.fixture
def client(tmp_path, monkeypatch):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("fastapi")
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"income": rng.normal(size=120), "town": ["Cork", "Graz", "Hull"] * 40})
    table.loc[::7, "income"] = np.nan
    model = MarginBoostClassifier(5, random_state=0).fit(table, np.arange(120) % 3)
    model.save(tmp_path / "model.safetensors")
    monkeypatch.setenv("MODEL", str(tmp_path / "model.safetensors"))
    spec = importlib.util.spec_from_file_location("server", SERVER)
    server = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(server)
    return Client(server.app, model, table)


def test_answers_are_those_of_the_model(client):
    rows = client.table.astype(object).where(client.table.notna(), None)
    probabilities = client.model.predict_proba(client.table)
    for row, expected in zip(rows[:10].to_dict("records"), probabilities, strict=False):
        status, answer = client.ask("POST", "/predict", row)
        assert status == 200
        assert list(answer["probabilities"].values()) == expected.tolist()
        assert answer["label"] == str(client.model.classes_[expected.argmax()])


@pytest.mark.parametrize(
    ("row", "sentence"),
    [
        ({"income": 1.0}, "it lacks town"),
        ({"income": "much", "town": "Cork"}, "got 'much' in column 0"),
        ({"income": 1.0, "town": [1]}, "town"),
    ],
)
def test_a_wrong_row_is_refused_with_a_sentence(client, row, sentence):
    status, answer = client.ask("POST", "/predict", row)
    assert status == 422
    assert sentence in str(answer)


def test_health(client):
    status, answer = client.ask("GET", "/health")
    assert status == 200
    assert answer["columns"] == ["income", "town"]
