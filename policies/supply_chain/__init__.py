"""Supply chain: what is run is what was reviewed."""
