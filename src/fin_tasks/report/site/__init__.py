"""The page of a leaderboard, one file that works from disk."""
