"""Training: fine-tune a model on a task."""
