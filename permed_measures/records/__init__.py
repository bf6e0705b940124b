"""Keep and check results: records of evaluations, their verification, gates and leaderboards."""
