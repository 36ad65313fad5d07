"""A web server on this machine, for what would be fetched."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import pytest


class Site(NamedTuple):
    url: str
    folder: Path
    asked: list[str]  # the paths that were asked for


class Quiet(SimpleHTTPRequestHandler):
    def __init__(self, *args: Any, asked: list[str], directory: str) -> None:
        self.asked = asked
        super().__init__(*args, directory=directory)

    def do_GET(self) -> None:
        self.asked.append(self.path)
        super().do_GET()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    asked: list[str] = []
    handler = partial(Quiet, asked=asked, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield Site(f"http://127.0.0.1:{server.server_port}", folder, asked)
        server.shutdown()
        thread.join()
