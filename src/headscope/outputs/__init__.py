"""What is read off the outputs of a model: losses, scores of texts, gradients of heads."""
