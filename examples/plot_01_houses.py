"""
House prices
============
Text.
"""
print(1)
