"""Lantau's own Pulumi provider: what other providers cannot do without leaking a key or trampling a neighbour.

`store/` makes secrets inside AWS Secrets Manager, `kube/` changes single taints of nodes, `preflight/` answers during
preview whether the cluster and the store are fit for what the program is about to do. Nothing here imports the rest of
the project: the plugin is a process of its own.
"""
