"""Numbers that stay true: records of evaluations, their verification, gates and leaderboards."""
