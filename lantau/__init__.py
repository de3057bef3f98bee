"""Plain Python behind the Pulumi program: no import of Pulumi here."""
