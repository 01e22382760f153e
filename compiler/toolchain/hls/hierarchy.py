"""Which module instantiates which, from <RTLDesignHierarchy> of a whole design's report."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """`instances[module]` is instance name -> its module, for what `module` instantiates."""

    instances: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])

    @staticmethod
    def of(root: Element) -> "Hierarchy":
        found: dict[str, dict[str, str]] = {}
        for parent in root.findall("RTLDesignHierarchy//*"):
            module = parent.findtext("ModuleName", "").strip()
            for instance in parent.findall("InstancesList/Instance"):
                name = instance.findtext("InstName", "").strip()
                found.setdefault(module, {})[name] = instance.findtext("ModuleName", name).strip()
        return Hierarchy(found)
