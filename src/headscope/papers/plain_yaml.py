"""YAML as plain data: no anchors or aliases, of which a few lines unpack to a large object, and no key twice."""

from collections import Counter
from collections.abc import Hashable
from typing import Any

import yaml


class _Loader(yaml.SafeLoader):
    """Refuses anchors and aliases as they are parsed, before anything is made of them."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.peek_event().anchor:
            raise ValueError("it has anchors or aliases; write each value out")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Hashable, Any]:
        names = Counter(key.value for key, _ in node.value if isinstance(key.value, str))
        if twice := next((name for name, count in names.items() if count > 1), None):
            raise ValueError(f"it has '{twice}' twice in one mapping, in line {node.start_mark.line + 1}; remove one")
        return super().construct_mapping(node, deep)


def plain_data(text: str) -> Any:
    """The data of a text in YAML.

    Raises `ValueError` for what is no such YAML, in words for the user.

    >>> plain_data("{limit: 0.5, at: [1, 2]}")
    {'limit': 0.5, 'at': [1, 2]}
    """
    try:
        return _Loader(text).get_single_data()
    except (yaml.YAMLError, RecursionError, LookupError, AttributeError, TypeError) as error:  # also of a wrong tag
        raise ValueError(f"it is not YAML ({' '.join(str(error).split())[:120]})") from error
