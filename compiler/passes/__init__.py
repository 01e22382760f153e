"""What plans an accelerator: one file for each pass, `design_passes` the list (design section 3, "One path")."""
