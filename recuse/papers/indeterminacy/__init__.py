"""Rating tasks without gold labels: response sets behind forced choices, definitions of performance, judge selection.

Guerdan et al. (2025), Validating LLM-as-a-judge systems in the absence of gold labels. One concept per file:
`rating_task` (options, sets and Theorems 3.3, 3.4), `transitions` (matrices with parameters, or from counts),
`aggregation` (rating vectors; consistency and bias downstream), `definitions` (Table 1), `judge_selection` (regret),
`common_classes` (no labels at all). Nothing is imported here."""
