"""Pictures of scenes: charts by matplotlib, pages and frames by Pillow, photographs by both and a little noise."""
