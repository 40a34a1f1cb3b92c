"""The jobs people come for, each on top of any ratio estimator."""
