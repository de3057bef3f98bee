"""Protection of data: it survives a mistaken destroy, a deleted claim and a lost node."""
