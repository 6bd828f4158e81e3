"""Distributions, resampling, clusters, multiplicity, power: statistics that know nothing of judges."""
