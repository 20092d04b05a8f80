"""Colours, marks and sizes of all pictures."""

from __future__ import annotations

from squamish.evidence.relevance import IRRELEVANT, STRONG, WEAK

COLOURS = {STRONG: "#0b6e6e", WEAK: "#c77700", IRRELEVANT: "#8a8a8a"}
MARKERS = {STRONG: "o", WEAK: "D", IRRELEVANT: "X"}
BAND_COLOUR, INK = "#dfe3ea", "#333333"
# The height of a row in inches, and of its label in points.
ROW, FONT, LEAST_FONT = 0.2, 8.0, 4.0
# Taller pictures than this have more pixels than Agg can draw.
TALLEST = 600.0
