"""The client that a program is run with: `blocking`, or `asyncio` behind the same calls."""

import asyncio
import inspect

from program import millrace


class Blocking:
    """The methods of an AsyncClient, each of which returns when its coroutine does, and its lists as lists are elsewhere."""

    def __init__(self, url):
        self._loop = asyncio.new_event_loop()
        self._client = millrace.AsyncClient(url)

    def __enter__(self):
        self._loop.run_until_complete(self._client.__aenter__())
        return self

    def __exit__(self, *reason):
        self._loop.run_until_complete(self._client.__aexit__(*reason))
        self._loop.close()

    def __getattr__(self, name):
        method = getattr(self._client, name)

        def call(*args, **options):
            answer = method(*args, **options)
            if inspect.isawaitable(answer):
                return self._loop.run_until_complete(answer)
            return self._items(answer)

        return call

    def _items(self, items):
        while True:
            try:
                yield self._loop.run_until_complete(items.__anext__())
            except StopAsyncIteration:
                return


def connect(kind, url):
    return millrace.connect(url) if kind == "blocking" else Blocking(url)
