"""What pages of this package share: modules of the browser, and servers that answer this machine alone."""
