"""Beyond the illusion of consensus: resolutions of agreement, shared rubrics, knowledge first (paper 002)."""
