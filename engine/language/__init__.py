"""What every number is said in: units and their texts, refusals, domains and inputs, formulas, documents."""
