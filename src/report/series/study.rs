//! Curves and Pareto fronts of a study.
