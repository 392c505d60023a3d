"""Structure: how much of a dependency tree the hidden states of each layer hold (structural probe).

Hewitt and Manning 2019: a linear map under which squared distances between the words of a sentence are their
distances in its tree (distance probe), and squared norms their depths (depth probe); for every layer in one pass.
"""
