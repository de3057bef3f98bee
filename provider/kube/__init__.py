"""Single calls to a cluster's API server: no client library, since loading one takes half a second of every preview."""
