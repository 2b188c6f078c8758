"""lm-eval task files, as a package: its entry-point group `lm_eval.tasks` names it."""
