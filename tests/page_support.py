"""The code in Markdown pages.

All Python blocks of a page run in one namespace, in the order of the page, and so do `sh` blocks that
call marginboost and nothing else. What a reader need not see stands in a comment that begins with
"run first". A comment "not run: reason" keeps the next block from running, and so does a comment
"needs: module" or "needs: module>=1.2" where there is no such module.
"""

import re
import shlex
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).parents[1]

FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<code>.*?)^```$", re.DOTALL | re.MULTILINE)
HIDDEN = re.compile(r"^<!-- run first\n(?P<code>.*?)^-->$", re.DOTALL | re.MULTILINE)
SKIPPED = re.compile(r"<!-- not run: [^>]+ -->\n+\Z")
NEEDING = re.compile(r"<!-- needs: (?P<module>\w+)(>=(?P<version>[\d.]+))? -->\n+\Z")


@dataclass(frozen=True)
class Block:
    language: str
    code: str
    line: int


def blocks_of(path):
    """Return the blocks of a page that are to be run."""
    text = path.read_text("utf-8")
    found = []
    for match in sorted([*FENCE.finditer(text), *HIDDEN.finditer(text)], key=lambda m: m.start()):
        language = match.groupdict().get("language", "python")
        block = Block(language, match["code"], text.count("\n", 0, match.start("code")))
        before = text[: match.start()]
        needing = NEEDING.search(before)
        absent = needing is not None and not is_there(needing["module"], needing["version"])
        if _runs(block) and not SKIPPED.search(before) and not absent:
            found.append(block)
    return found


def is_there(module, least):
    """Check whether a module is installed, of some version or later."""
    if find_spec(module) is None:
        return False
    return least is None or _numbers(version(module)) >= _numbers(least)


def _numbers(text):
    return [int(part) for part in re.findall(r"\d+", text)]


def run_page(path):
    """Run a page in the current folder."""
    namespace = {"__name__": f"page {path.name}"}
    for block in blocks_of(path):
        if block.language == "python":
            # The empty lines in front make a traceback name the line of the page.
            exec(compile("\n" * block.line + block.code, str(path), "exec"), namespace)
        else:
            _run_commands(block)


def _runs(block):
    if block.language == "python":
        return True
    return block.language == "sh" and all(
        line.startswith("marginboost ") for line in _commands(block)
    )


def _commands(block):
    return block.code.replace("\\\n", " ").splitlines()


def _run_commands(block):
    # In this process, which is quicker. tests/cli/test_process.py has the command as one of its own.
    from typer.testing import CliRunner  # noqa: PLC0415

    from marginboost.cli.app import app  # noqa: PLC0415

    for line in _commands(block):
        done = CliRunner().invoke(app, shlex.split(line)[1:])
        assert done.exit_code == 0, f"line {block.line}: {line}: {done.output}"
