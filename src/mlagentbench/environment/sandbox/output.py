"""Keep the head and the tail of a stream, however much of it there is."""


class HeadAndTail:
    """A bounded memory of an unbounded stream."""

    def __init__(self, limit: int) -> None:
        self._head_limit = limit - limit // 2
        self._tail_limit = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    @property
    def truncated(self) -> bool:
        """Whether anything was dropped."""
        return self._dropped > 0

    def feed(self, data: bytes) -> None:
        """Take in the next piece of the stream."""
        room = self._head_limit - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus

    def contents(self) -> bytes:
        """Return what was kept, with a line that says how much was dropped."""
        if not self.truncated:
            return bytes(self._head + self._tail)
        marker = f"\n[... {self._dropped} bytes dropped ...]\n".encode()
        return bytes(self._head) + marker + bytes(self._tail)
