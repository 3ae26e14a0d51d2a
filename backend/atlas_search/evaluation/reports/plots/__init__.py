"""Plots as SVG, in the colours of the page that holds them."""
