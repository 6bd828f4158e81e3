"""Rating tasks without gold labels (Guerdan et al. 2025, Validating LLM-as-a-judge systems in the absence of gold
labels): `rating_task` (options, sets, Theorems 3.3 and 3.4, simulated raters), `definitions` (rating vectors, Table 1),
`rated_options` (decisions by a threshold), `response_sets`, `judge_selection` (regret; no labels at all)."""
