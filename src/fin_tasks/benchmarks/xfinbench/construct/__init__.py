"""Make questions like XFinBench's out of exercises with solutions; `docs/own_questions.md` explains how."""
