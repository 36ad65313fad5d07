import pytest
from saved_models import MODELS


@pytest.fixture(scope="session")
def fitted():
    """Return models by name, each fitted once."""
    made = {}

    def of(name):
        if name not in made:
            made[name] = MODELS[name]()
        return made[name]

    return of
