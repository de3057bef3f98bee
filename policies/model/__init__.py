"""What the rules see of a resource: plain values, Kubernetes objects and pods, free of SDK proxies."""
