"""Questions about scenes, with answers worked out from what the picture prints."""
