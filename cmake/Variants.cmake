# Every variant, one line each. Add the line when all four files are there.

