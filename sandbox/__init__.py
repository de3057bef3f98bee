"""A whole Hong Kong on one machine: engine builder, control plane, fake GPU nodes and a stand-in for AWS."""
