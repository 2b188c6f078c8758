"""Which requests of a batch have their reply, and which equal ones wait for the same one."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fin_tasks.endpoints.requests import ChatRequest, Reply

__all__ = ["Named", "Tally"]


@dataclass(frozen=True, kw_only=True)
class Named:
    """Some requests of a batch, in order, and what the disk knows of them.

    Attributes:
        requests: The requests.
        keys: Their names; requests that are equal share one.
        kept: Replies that were on the disk, by name.
        unreadable: Why a request cannot be sent, by name: its picture is not there.
    """

    requests: Sequence[ChatRequest]
    keys: Sequence[str]
    kept: Mapping[str, str]
    unreadable: Mapping[str, str]


@dataclass(kw_only=True)
class Tally:
    """What became of the requests of a batch, which are made known a few at a time.

    Attributes:
        accept: Told a request's place and its reply, says whether the reply can be used; every reply can where None.
        on_done: Told how many requests are settled, whenever that has changed.
        keys: The names of the requests made known, in order.
        replies: By name, of those settled.
    """

    accept: Callable[[int, str], bool] | None
    on_done: Callable[[int], None] | None
    keys: list[str] = field(default_factory=list)
    replies: dict[str, Reply] = field(default_factory=dict)
    _places: dict[str, int] = field(default_factory=dict)
    """Of the first request of each name."""
    _waiting: Counter[str] = field(default_factory=Counter)
    """How many requests wait for the reply of that name."""
    _done: int = 0

    def add(self, named: Named) -> dict[str, ChatRequest]:
        """Make requests known.

        Returns:
            Those to be asked, by name: nobody asked before, and what is on the disk, if anything, cannot be used.
        """
        missing: dict[str, ChatRequest] = {}
        for key, request in zip(named.keys, named.requests, strict=True):
            new = key not in self._places
            self._places.setdefault(key, len(self.keys))
            self.keys.append(key)
            if new and key in named.unreadable:
                self.replies[key] = Reply(error=named.unreadable[key])
            elif new and key in named.kept and self.usable(key, named.kept[key]):
                self.replies[key] = Reply(text=named.kept[key], kept=True)
            if key in self.replies:
                self._done += 1
            else:
                self._waiting[key] += 1
                if new:
                    missing[key] = request
        self._tell()
        return missing

    def settle(self, key: str, reply: Reply) -> None:
        """Note a reply, or that there will be none, for all requests of that name."""
        self.replies[key] = reply
        self._done += self._waiting.pop(key, 0)
        self._tell()

    def usable(self, key: str, text: str) -> bool:
        """Return whether a reply can be used for the requests of that name."""
        return self.accept is None or self.accept(self._places[key], text)

    def in_order(self) -> list[Reply]:
        """Return one reply per request; all have to be settled."""
        return [self.replies[key] for key in self.keys]

    def spared(self) -> int:
        """Count the replies that needed no request: they were on the disk, or came to an equal request before."""
        seen: set[str] = set()
        spared = 0
        for key in self.keys:
            reply = self.replies[key]
            spared += reply.text is not None and (reply.kept or key in seen)
            seen.add(key)
        return spared

    def _tell(self) -> None:
        if self.on_done is not None:
            self.on_done(self._done)
