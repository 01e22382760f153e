"""The area and power model refitted from reports of the tools, and its error on designs that the fit did not see."""
