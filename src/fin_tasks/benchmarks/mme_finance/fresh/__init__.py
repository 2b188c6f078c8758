"""Fresh questions about fresh pictures, in the form of MME-Finance, with truths that need no judge."""
