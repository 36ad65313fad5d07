"""The coefficients of a weak classifier: small k x k problems, each solved with a reported error.

They are solved on the host, in one place, for every engine: logarithms and exponentials differ between
libraries, but the model must not.
"""

from marginboost.coefficients.balancing import balance
from marginboost.coefficients.base import Solution
from marginboost.coefficients.newton import newton
from marginboost.coefficients.step import exp_of, mass_after, step_factors

__all__ = ["Solution", "balance", "exp_of", "mass_after", "newton", "step_factors"]
