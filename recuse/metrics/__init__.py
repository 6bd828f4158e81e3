"""Measures of a judge, one family per file: ratings in, `Estimate` or `Estimates` out."""
