"""What a run knows of its repository and its pull request: commits, recording days, earlier baselines, the comment."""
