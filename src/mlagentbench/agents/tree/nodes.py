"""A tree of solutions: each a script, made from another one, with what came of it."""

from dataclasses import dataclass, field

from mlagentbench.core.trace import Step


@dataclass(eq=False)
class Node:
    """One script that was executed."""

    script: str
    step: int
    """The step that executed it; the workspace can go back to it."""
    value: float | None
    """The measured validation score; None where it has none."""
    told: str
    """What its execution showed."""
    parent: "Node | None" = None
    debugged: int = 0
    """How many attempts at mending led to it."""
    children: "list[Node]" = field(default_factory=list)


class Tree:
    """Every solution tried so far."""

    def __init__(self, sign: int) -> None:
        self._sign = sign
        self.nodes: list[Node] = []

    def grow(self, script: str, step: Step, parent: Node | None, debugged: int) -> Node:
        """Add what an execution made known."""
        value = step.validation.value if step.validation else None
        node = Node(script, step.step, value, step.told, parent, debugged)
        if parent is not None:
            parent.children.append(node)
        self.nodes.append(node)
        return node

    @property
    def best(self) -> Node | None:
        """The solution with the best validation score; of equals the first."""
        scored = [node for node in self.nodes if node.value is not None]
        return max(scored, key=self._merit, default=None)

    def _merit(self, node: Node) -> float:
        return self._sign * (node.value or 0.0)

    def to_mend(self, attempts: int) -> Node | None:
        """Return the newest failed solution that nobody has tried often enough."""
        failed = [
            node
            for node in reversed(self.nodes)
            if node.value is None and not node.children and node.debugged < attempts
        ]
        return failed[0] if failed else None

    def knows(self, script: str) -> bool:
        """Tell whether this very script was executed before."""
        return any(node.script.split() == script.split() for node in self.nodes)
