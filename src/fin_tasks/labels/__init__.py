"""Studies with people: draw rows into sheets, read the filled sheets, and count the votes."""
