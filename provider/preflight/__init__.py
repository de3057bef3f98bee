"""What must hold before anything is changed: cluster, its add-ons, its nodes, the managed store."""
