"""Make a workspace, look after it: init, check, status."""
