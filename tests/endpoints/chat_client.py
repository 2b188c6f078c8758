"""A client of chat models for tests: its event loop runs in a thread."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal
from chat_server import Answer, Served, serve

from fin_tasks.endpoints.chat import ChatClient, Endpoint, open_chat
from fin_tasks.endpoints.replies import ChatReply, Usage
from fin_tasks.settings import Settings


@dataclass
class Chat:
    client: ChatClient
    portal: BlockingPortal

    @property
    def usage(self) -> Usage:
        return self.client.endpoint.usage

    def ask(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> ChatReply:
        return self.portal.call(partial(self.client.ask, messages, **options))


@contextmanager
def chat_with(
    model: str, urls: Sequence[str], settings: Settings, **options: Any
) -> Iterator[Chat]:
    endpoint = Endpoint(model=model, base_url=tuple(urls), **options)
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(open_chat(endpoint, settings)) as client,
    ):
        yield Chat(client, portal)


@contextmanager
def chat_at(
    answer: Callable[[dict[str, Any]], Answer],
    settings: Settings,
    *,
    pause: float = 0.0,
    **options: Any,
) -> Iterator[tuple[Served, Chat]]:
    """Serve a model on this machine, and make a client for it."""
    with (
        serve(answer, pause=pause) as served,
        chat_with("m", [served.base_url], settings, **options) as chat,
    ):
        yield served, chat
