"""Ways to fine-tune, one a file, named as in `finetune --ways`: what is trained, and from which weights."""
