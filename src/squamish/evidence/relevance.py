"""The three classes of relevance, in numbers and in words."""

from __future__ import annotations

STRONG, WEAK, IRRELEVANT = 2, 1, 0
CLASS_NAMES = {STRONG: "strong", WEAK: "weak", IRRELEVANT: "irrelevant"}
HEADINGS = {
    STRONG: "Cannot do without (strong)",
    WEAK: "Informative, but replaceable (weak)",
    IRRELEVANT: "No sign of use (irrelevant)",
}
MEANINGS = {
    STRONG: "removing it alone makes the best model worse",
    WEAK: "informative, but others can replace it",
    IRRELEVANT: "no evidence that it tells anything about the target",
}
PROOFS = {
    "marginal": "it depends on the target by itself",
    "product": "it depends on the target together with another column",
    "partial": "it tells something that all other columns in a linear model do not",
    "shadow": "boosted trees gain more from it than from permuted columns",
    "association": "it is clearly correlated with a column that is relevant",
    "useful": "it explains what the best model without it leaves unexplained",
    "model": "the best model of the relevant columns predicts worse when it is redrawn",
    "trees": "boosted trees predict worse when it is redrawn",
    "boruta": "Boruta's forests gain more from it than from permuted columns",
}
