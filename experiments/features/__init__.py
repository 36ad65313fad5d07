"""Features of the image experiments, as scikit-learn transformers.

MNIST: `Resize`, `Deskew` and `HogPyramid`, in this order. Each lives in the file of its name.
"""
