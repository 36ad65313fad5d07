"""tools/fit_walk.py: it counts functions of the package, each once, from all threads."""

import importlib.util
import threading

import numpy as np
import pytest
from page_support import ROOT

from marginboost.data.classes import class_numbers

PATH = ROOT / "tools" / "fit_walk.py"
SPEC = importlib.util.spec_from_file_location("fit_walk", PATH)
fit_walk = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(fit_walk)


def call():
    return class_numbers(np.array(["a", "b"]), np.array(["b", "c"]))


def test_functions_of_the_package_alone_are_counted():
    """Not those of NumPy and of this file, and not the comprehensions within."""
    found = fit_walk.walk(lambda: (call(), call()))
    assert [(function.file, function.name, times) for function, times in found.items()] == [
        ("data/classes.py", "class_numbers", 2)
    ]


def test_other_threads_count():
    def in_a_thread():
        thread = threading.Thread(target=call)
        thread.start()
        thread.join()

    assert [function.name for function in fit_walk.walk(in_a_thread)] == ["class_numbers"]


@pytest.mark.parametrize("name", ["MarginBoostClassifier", "SAMMEClassifier"])
def test_the_walk_of_a_fit(name, capsys):
    fit_walk.main([name, "--rows", "60", "--set", "n_estimators=2", "--list"])
    *lines, last = capsys.readouterr().out.splitlines()
    files = {line.split()[1].split(":")[0] for line in lines}
    assert last.startswith(f"{name}.fit: {len(lines)} functions in {len(files)} files, ")
    assert lines[0].split()[-1].endswith("hinting")  # looks at unknown keywords alone
    assert lines[1].split()[-1].endswith(".fit")
    assert any(file.startswith("boosting/") for file in files)


def test_settings_may_be_words(capsys):
    settings = ["--set", "n_estimators=2", "--set", "loss=logistic"]
    fit_walk.main(["--rows", "60", *settings])
    assert " functions in " in capsys.readouterr().out
    with pytest.raises(SystemExit):
        fit_walk.main(["NoSuchClassifier"])


@pytest.mark.parametrize(
    ("settings", "functions", "files"),
    [
        # One fit; rows are ordered, and records made, in one go. Hashes of copies have a file of their
        # own, which also finds out whether copies may be divided.
        ({"n_estimators": 100}, 210, 52),
        # What the defaults decide, and the fits of which they take the mean. A lone fit's share is found
        # where those of several are, in one file more. A trial ends for two reasons: a function more. The
        # linear candidate, its columns and its trees are some thirty functions in four files; with this
        # seed it is a part of the model. Whether columns of few values get a candidate is one more.
        ({}, 290, 63),
    ],
)
def test_the_flagship_is_a_short_walk(settings, functions, files):
    """Lower the limits when you shorten it; whoever makes it longer has to say why."""
    # What the defaults decide may depend on the seed.
    found = fit_walk.fit_walk("MarginBoostClassifier", random_state=0, **settings)
    assert len(found) <= functions
    assert len({function.file for function in found}) <= files
