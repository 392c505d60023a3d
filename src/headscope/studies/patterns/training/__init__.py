"""Train the classifier of attention maps from labelled and made maps."""
