"""What every number is said in: units and their texts, refusals, domains, formulas, documents."""
