"""What only a paper's study needs: its measures, protocols, statistics and drawings, one room a paper, and
in `rank_tests` what several of them share.

The engine imports nothing from here. What is found by name (protocols, drawings) is found as a team's own is: by the
entry points of the package."""
