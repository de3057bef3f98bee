"""Finding keys: known shapes, names, contexts and encodings. No value ever leaves this package."""
