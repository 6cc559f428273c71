"""What every room answers through: rendering, assets, limits, who asks, JSON."""
