"""Networks from files in integers: what is quantised, by which scales, and the bodies that compute it."""
