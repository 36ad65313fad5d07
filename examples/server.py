"""A model behind HTTP, with FastAPI.

Start it with ``MODEL=wines.safetensors uvicorn server:app``.
"""

import os

from fastapi import FastAPI, HTTPException

import marginboost

model = marginboost.load(os.environ.get("MODEL", "model.safetensors"))
served = model.compile()  # a snapshot that predicts one row in microseconds
names = model.feature_names_in_.tolist()
classes = [str(label) for label in model.classes_]

app = FastAPI(title="A marginboost model")


@app.post("/predict")
async def predict(row: dict[str, int | float | str | None]):
    """Predict the class of one row: an object with a value, or null, per column."""
    lacking = [name for name in names if name not in row]
    if lacking:
        raise HTTPException(422, f"The row must have all columns; it lacks {', '.join(lacking)}.")
    try:
        label, probabilities = served([row[name] for name in names])
    except (TypeError, ValueError) as error:
        raise HTTPException(422, str(error)) from error
    return {
        "label": str(label),
        "probabilities": dict(zip(classes, probabilities.tolist(), strict=True)),
    }


@app.get("/health")
async def health():
    """Say what is served."""
    return {"marginboost": marginboost.__version__, "columns": names, "classes": classes}
