"""DynoStock and the Behavioral Bias Index: stock forecasts under recency and authority bias."""
