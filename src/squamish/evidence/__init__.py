"""What verdicts rest on."""
