"""Agreement of raters over items: coefficients with their intervals, from sums over items.

Every function takes plain arrays and gives a `Coefficient` (value, reason where undefined, jackknife); the
intraclass correlations have the F distribution of their own."""
