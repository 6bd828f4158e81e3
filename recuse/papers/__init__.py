"""What only a paper's study needs, one room a paper, and in `rank_tests` what several of them share. The engine imports
nothing from here: protocols and drawings are found as a team's own are, by the entry points of the package."""
