"""How far our numbers are from the paper's."""

from experiments.page.agreement import agreement
from experiments.page.section import Cell, Number, Table


def table(*cells):
    return Table("A table.", ["data", *"ab"[: len(cells)]], [("iris", cells)])


def test_the_farthest_is_named_first():
    near = Cell(Number(1.0), 3, Number(1.5, 1.0))
    above = Cell(Number(4.0), 3, Number(1.0, 2.0))
    below = Cell(Number(1.0), 3, Number(7.0, 2.0))
    assert agreement([table(near)]) == [
        "Of 1 numbers that the paper has as well, 1 are within one of its standard deviations."
    ]
    (said,) = agreement([table(above, near), table(below)])
    assert said.startswith("Of 3 numbers that the paper has as well, 1 are")
    assert said.endswith("iris, a (-3.0); iris, a (+1.5).")


def test_what_cannot_be_compared_is_left_out():
    alone, unknown = Cell(Number(1.0), 3), Cell(Number(1.0), 3, Number(9.0))
    assert agreement([table(alone, unknown)]) == []
    both = table(Cell(Number(1.0), 3, Number(1.0, 1.0)), Cell(Number(9.0), 3, Number(1.0, 1.0)))
    (said,) = agreement([both], ["a"])
    assert said.startswith("Of 1 numbers of a that")
    assert "others" not in said
