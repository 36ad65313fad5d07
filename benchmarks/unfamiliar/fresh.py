"""Fresh sets: nothing in marginboost was ever chosen on them.

They were picked by name, by shape and by their documentation before any library was run on them.
Left out as the same data as another set here: australian (crx), heart (heart_c), breast_cancer of
scikit-learn (wdbc), its digits (a part of optdigits), MASS's fgl (glass) and biopsy (wisconsin),
income of kernlab (marketing), and the two-class parts of other sets in KEEL's "imbalanced" folder.
"""

from dataclasses import dataclass

import pandas as pd

from benchmarks.unfamiliar import packages


@dataclass(frozen=True)
class Frame:
    """A data frame of R: its name, the class, and the columns that are left out.

    `without` names identifiers and columns that give the class away; `categories` names columns
    of numbers that mean nothing as numbers. A class named "a+b" is made of two columns.
    """

    name: str
    target: str
    without: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()

    def read(self) -> tuple[pd.DataFrame, pd.Series]:
        frame = packages.r_frame(self.name).drop(columns=list(self.without))
        parts = self.target.split("+")
        y = frame[parts[0]]
        for part in parts[1:]:
            y = y.astype(str) + frame[part].astype(str)
        for column in self.categories:
            frame[column] = frame[column].astype(str)
        return frame.drop(columns=parts), y


@dataclass(frozen=True)
class Keel:
    """A set of KEEL; `categories` says whether its numbers are codes."""

    name: str
    kind: str = "balanced"
    categories: bool = False

    def read(self) -> tuple[pd.DataFrame, pd.Series]:
        table = packages.keel(self.name, self.kind)
        X = table.iloc[:, :-1]
        return X.astype(str) if self.categories else X, table.iloc[:, -1]


_MULTI_CLASS = {
    "hayes_roth": Keel("hayes-roth"),
    "marketing": Keel("marketing"),
    "movement_libras": Keel("movement_libras"),
    "optdigits": Keel("optdigits"),
    "texture": Keel("texture"),
    "fishing": Frame("Ecdat/Fishing", "mode", ("price", "catch")),
    "yogurt": Frame("Ecdat/Yogurt", "choice", categories=("id",)),
    "catsup": Frame("Ecdat/Catsup", "choice", categories=("id",)),
    "cracker": Frame("Ecdat/Cracker", "choice", categories=("id",)),
    "heating": Frame("Ecdat/Heating", "depvar", ("idcase",)),
    "travel_mode": Frame("Ecdat/Mode", "choice"),
    "car_choice": Frame("Ecdat/Car", "choice"),
    "cooling": Frame("Ecdat/HC", "depvar"),
    "math_level": Frame("Ecdat/Mathlevel", "mathlevel"),
    "kakadu": Frame("Ecdat/Kakadu", "answer", ("lower", "upper")),
    "bank_wages": Frame("AER/BankWages", "job"),
    "occupation": Frame("AER/CPS1985", "occupation"),
    "athletes": Frame("DAAG/ais", "sport"),
    "leaf_shape": Frame("DAAG/leafshape", "location", ("latitude",)),
    "crash_injury": Frame("DAAG/nassCDS", "injSeverity", ("caseid", "dead")),
    "forbes": Frame("HSAUR/Forbes2000", "category", ("rank", "name")),
    "skulls": Frame("heplots/Skulls", "epoch"),
    "crabs": Frame("MASS/crabs", "sp+sex", ("index",)),
    "hawks": Frame("Stat2Data/Hawks", "Species", ("CaptureTime", "ReleaseTime", "BandNumber")),
    "pitches": Frame(
        "Stat2Data/Kershaw", "PitchType", ("BatterNumber", "Time", "Batter", "ABEvent")
    ),
    "british_vote": Frame("carData/BEPS", "vote"),
    "chile_vote": Frame("carData/Chile", "vote"),
    "women_work": Frame("carData/Womenlf", "partic"),
    "poverty": Frame("carData/WVS", "poverty"),
    "professors": Frame("carData/Salaries", "rank"),
    "storms": Frame("dplyr/storms", "status", ("name", "category")),
    "olive": Frame("dslabs/olive", "area", ("region",)),
    "tissues": Frame("dslabs/tissue_gene_expression", "y"),
    "diamonds": Frame("ggplot2/diamonds", "cut"),
    "mpg": Frame("ggplot2/mpg", "class", ("model",)),
    "reaven": Frame("heplots/Diabetes", "group"),
    "neurocog": Frame("heplots/NeuroCog", "Dx"),
    "penguins": Frame("palmerpenguins/penguins", "species"),
    "aggression": Frame("lme4/VerbAgg", "resp", ("r2",), ("id",)),
    "hepatic": Frame("modeldata/hepatic_injury_qsar", "class"),
    "hpc_jobs": Frame("modeldata/hpc_data", "class"),
    "flavia": Frame("modeldata/leaf_id_flavia", "species"),
    "sacramento": Frame("modeldata/Sacramento", "type"),
    "help_substance": Frame("mosaicData/HELPrct", "substance", ("id",)),
    "fast_food": Frame("openintro/fastfood", "restaurant", ("item", "salad")),
    "school_program": Frame("openintro/hsb2", "prog", ("id",)),
    "baseball": Frame("openintro/mlb_players_18", "position", ("name",)),
    "us_vote": Frame("pscl/vote92", "vote"),
    "rodents": Frame("ratdat/complete", "genus", ("record_id", "species_id", "species", "taxa")),
    "cirrhosis_stage": Frame("survival/pbc", "stage", ("id",)),
    "wilms_stage": Frame("survival/nwtco", "stage", ("seqno",)),
    "happiness": Frame("wooldridge/happiness", "happy", ("vhappy",)),
}
_TWO_CLASSES = {
    **{
        name.replace("-", "_"): Keel(name)
        for name in (
            *("bands", "breast", "bupa", "chess", "crx", "german", "housevotes", "ionosphere"),
            *("magic", "mammographic", "mushroom", "phoneme", "pima", "ring", "saheart", "sonar"),
            *("spambase", "tic-tac-toe", "titanic", "wdbc", "wisconsin", "banana"),
        )
    },
    "monk_2": Keel("monk-2", categories=True),
    "haberman": Keel("haberman", "imbalanced"),
    "page_blocks": Keel("page-blocks0", "imbalanced"),
    "attrition": Frame("modeldata/attrition", "Attrition"),
    "credit": Frame("modeldata/credit_data", "Status"),
    "churn": Frame("modeldata/mlc_churn", "churn"),
}
FRESH: dict[str, Frame | Keel] = {**_MULTI_CLASS, **_TWO_CLASSES}
