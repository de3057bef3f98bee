"""What the edge gateway and the inference gateway have in common: kinds of Gateway API and Envoy Gateway, proxies."""
