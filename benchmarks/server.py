"""The server of docs/serving.md under load: `python benchmarks/server.py [--requests N] [--out FILE]`.

Fits a model with missing values and text, starts `examples/server.py` by uvicorn in its own process, and
sends requests over one connection, one after the other, with the client of the standard library. Every
answer is compared with the model's. Fails if the 99th percentile is above 5 ms, or if the server's
memory grows: what it holds after a fifth of the requests is compared with what it holds at the end.

On a busy machine both processes wait for a processor again and again. Linux counts for how long, and the
claim is about the latency less that time, which is what an idle machine gives, but for colder caches.
Both are printed. Needs Linux, uvicorn and fastapi.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from http.client import HTTPConnection
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from report import Claim, machine

from marginboost import MarginBoostClassifier

ROOT = Path(__file__).parents[1]
CLASSES, NUMBERS, TRAINED = 10, 20, 5000
P99_MS = 5.0
GROWTH_MB = 2.0  # per 10,000 requests; an answer that was kept would take a kilobyte each
WARM_UP = 200  # requests that are not measured
PATIENCE = 120  # seconds until the server must be there


def make_model(folder: Path):
    """Fit a model, save it, and return it with rows to ask for."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.normal(size=(TRAINED, NUMBERS)), columns=[f"x{n}" for n in range(NUMBERS)]
    )
    kinds = (table["x0"] * 2 + table["x1"]).rank(pct=True) * (CLASSES - 1e-9)
    table["town"] = rng.choice(["Cork", "Graz", "Hull", "Oslo"], TRAINED)
    table = table.mask(rng.random(table.shape) < 0.05)
    model = MarginBoostClassifier(100, random_state=0).fit(table, kinds.astype(int).to_numpy())
    path = folder / "model.safetensors"
    model.save(path)
    rows = table[:500]
    return path, model, rows


class Server:
    """`examples/server.py` in a process of its own."""

    def __init__(self, model: Path) -> None:
        with socket.socket() as found:  # a free port
            found.bind(("127.0.0.1", 0))
            self.port = found.getsockname()[1]
        command = [
            sys.executable,
            "-m",
            "uvicorn",
            "--app-dir",
            str(ROOT / "examples"),
            "server:app",
        ]
        options = ["--port", str(self.port), "--log-level", "warning", "--no-access-log"]
        environment = {**os.environ, "MODEL": str(model)}
        self.process = subprocess.Popen([*command, *options], env=environment)
        self._wait()

    def _wait(self) -> None:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            if self.process.poll() is not None:
                sys.exit("The server must start; it has ended.")
            try:
                client = HTTPConnection("127.0.0.1", self.port)
                client.request("GET", "/health")
                client.getresponse().read()
                client.close()
                return
            except OSError:
                time.sleep(0.05)
        sys.exit(f"The server must answer within {PATIENCE} s; it does not.")

    def resident_mb(self) -> float:
        """Return the memory that the process holds."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def waited(self) -> float:
        """Return the seconds for which the process was ready and had no processor."""
        return waited(str(self.process.pid))

    def cpu_seconds(self) -> float:
        """Return the time that the process has computed."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def waited(process: str) -> float:
    """Return the seconds for which a process, its first thread, was ready and had no processor."""
    return int(Path(f"/proc/{process}/schedstat").read_text().split()[1]) / 1e9


def ask(client: HTTPConnection, body: bytes) -> dict:
    client.request("POST", "/predict", body, {"Content-Type": "application/json"})
    answer = client.getresponse()
    content = answer.read()
    if answer.status != 200:
        sys.exit(f"The server must answer with 200; it answered {answer.status}: {content!r}")
    return json.loads(content)


def measure(n_requests: int) -> dict:
    """Return latencies and memory of a server under requests."""
    with TemporaryDirectory() as name:
        path, model, rows = make_model(Path(name))
        expected = model.predict_proba(rows)
        bodies = [
            json.dumps(
                {key: None if pd.isna(value) else value for key, value in row.items()}
            ).encode()
            for row in rows.to_dict("records")
        ]
        server = Server(path)
        try:
            client = HTTPConnection("127.0.0.1", server.port)
            client.connect()
            client.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for body in bodies[:WARM_UP]:
                ask(client, body)
            seconds, waits, memory, wrong = [], [], [], 0
            computed = server.cpu_seconds()
            for n in range(n_requests):
                place = n % len(bodies)
                before = server.waited() + waited("self")
                start = time.perf_counter()
                answer = ask(client, bodies[place])
                seconds.append(time.perf_counter() - start)
                waits.append(server.waited() + waited("self") - before)
                wrong += list(answer["probabilities"].values()) != expected[place].tolist()
                if (n + 1) % max(n_requests // 20, 1) == 0:
                    memory.append(server.resident_mb())
            computed = server.cpu_seconds() - computed
            client.close()
        finally:
            server.stop()
    return {
        "seconds": seconds,
        "undisturbed": np.maximum(np.array(seconds) - waits, 0.0).tolist(),
        "memory": memory,
        "wrong": wrong,
        "server_cpu_seconds": computed,
    }


def quantiles(seconds: list[float]) -> dict[str, float]:
    """Return quantiles in ms."""
    return {
        f"p{q:g}": round(1e3 * np.quantile(seconds, q / 100), 3) for q in (50, 90, 99, 99.9, 100)
    }


def claims(found: dict) -> list[Claim]:
    settled = found["memory"][len(found["memory"]) // 5 :]
    grown = (settled[-1] - settled[0]) * 10_000 / len(found["seconds"])
    return [
        Claim(
            "99th percentile of the latency in ms, less the wait for a processor",
            1e3 * np.quantile(found["undisturbed"], 0.99),
            P99_MS,
        ),
        Claim("MB that the server grew per 10,000 requests", grown, GROWTH_MB),
        Claim("answers that differ from the model's", found["wrong"], 0),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=ROOT / "out" / "bench" / "server.json")
    options = parser.parse_args()
    start = machine()
    found = measure(options.requests)
    checked = claims(found)
    of_all, undisturbed = quantiles(found["seconds"]), quantiles(found["undisturbed"])
    print(f"{options.requests:,} requests; load before {start['load'][0]:.1f}")
    for what, of in (("latency", of_all), ("less the wait for a processor", undisturbed)):
        print(f"{what}, ms: {', '.join(f'{k} {v}' for k, v in of.items())}")
    print(
        f"Server: {1e3 * found['server_cpu_seconds'] / options.requests:.3f} ms of CPU per request"
    )
    print(f"Memory in MB: {', '.join(f'{mb:.1f}' for mb in found['memory'])}")
    print(*checked, sep="\n")
    result = {
        "machine": start | {"load_after": os.getloadavg()},
        "versions": {
            name: version(name) for name in ("fastapi", "uvicorn", "starlette", "pydantic")
        },
        "latency_ms": of_all,
        "undisturbed_ms": undisturbed,
        "server_cpu_ms_per_request": 1e3 * found["server_cpu_seconds"] / options.requests,
        "memory_mb": found["memory"],
        "claims": [
            {"text": c.text, "measured": c.measured, "limit": c.limit, "holds": c.holds}
            for c in checked
        ],
        "all_ms": [round(1e3 * value, 4) for value in found["seconds"]],
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(json.dumps(result) + "\n")
    sys.exit(0 if all(claim.holds for claim in checked) else 1)


if __name__ == "__main__":
    main()
