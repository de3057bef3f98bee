"""What `make` calls: find or build the engine, start the sandbox, run Pulumi, say what came of it."""
