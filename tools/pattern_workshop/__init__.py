"""The workshop of the classifier of attention patterns: label maps, compare labels, train; not part of the package.

PYTHONPATH=tools python -m pattern_workshop label my-model texts.txt -o maps --number 300
PYTHONPATH=tools python -m pattern_workshop agreement maps/labels.jsonl maps/labels-ann.jsonl
PYTHONPATH=tools python -m pattern_workshop train maps -o mine
"""
