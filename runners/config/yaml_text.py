"""YAML as OmegaConf reads it."""

import re
from typing import Any

import yaml
from yaml.constructor import ConstructorError


class _Loader(yaml.CSafeLoader):
    """A loader of OmegaConf's dialect of YAML, fifteen times as fast as OmegaConf's.

    The text 1e5 is a number, a date is text, and no key may occur twice.
    """

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:
        keys: set[Any] = set()
        numbers: dict[Any, str] = {}
        for key, value in node.value:
            if str(key.value) in keys:
                raise ConstructorError(None, None, f"found duplicate key {key.value}", key.start_mark)
            keys.add(str(key.value))
            if key.tag.endswith((":int", ":float")):
                number = self.construct_number(key)
                if other := numbers.get(number):
                    reason = (
                        f"found the keys {other} and {key.value}, which are one number, expected quotes around them"
                    )
                    raise ConstructorError(None, None, reason, key.start_mark)
                numbers[number] = key.value
            if node.flow_style and isinstance(value, yaml.ScalarNode) and not (value.value or value.style):
                reason = (
                    f"found '{key.value}' in braces without a value, expected {{key: value}}, or brackets for a list"
                )
                raise ConstructorError(None, None, reason, key.start_mark)
        return dict(super().construct_mapping(node, deep))

    def construct_number(self, node: Any) -> Any:
        """Refuse numbers that YAML 1.1 reads differently from people, such as 0500 (320 in YAML) and 1:30 (90)."""
        construct = self.construct_yaml_int if node.tag.endswith("int") else self.construct_yaml_float
        number = construct(node)
        if re.match(r"[-+]?0[\d_]+$|.*:", node.value):
            reason = f"found {node.value}, which is {number} in YAML, expected a number without leading zeros or colons"
            raise ConstructorError(None, None, f"{reason}, or quotes around it", node.start_mark)
        return number


_Loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(r"[-+]?[\d_]+(\.[\d_]*)?[eE][-+]?\d+$"), None)
for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_number)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", lambda _, node: node.value)


def load(text: str) -> Any:
    """Return the content of a text; an empty text gives an empty mapping. Raises yaml.YAMLError or ValueError."""
    return _Loader(text).get_single_data() or {}
