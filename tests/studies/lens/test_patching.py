"""States of one text in another give what plain hooks of torch give; a planted head brings all back."""

import json
from typing import Any

import numpy as np
import pytest
import torch

import headscope
from headscope import Settings
from headscope.capture.layer_stack import stack
from headscope.errors import HeadscopeError
from headscope.report.study_page import study_page
from headscope.studies.layers.lens import study
from headscope.studies.layers.lens.patching import patched, runs
from headscope.studies.layers.lens.text_pair import TextPair, text_pair
from support.tiny import tiny_bert, tiny_tokenizer
from transformers import BertForMaskedLM

TEXTS = ("the old man saw a dog", "the new man saw a cat")
