"""What columns are worth: small sets, what stands in for their members, shares of the gain."""
