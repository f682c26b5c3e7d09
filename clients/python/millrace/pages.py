"""Lists of any length, read one page after the other."""

from __future__ import annotations

from typing import Any, AsyncIterator, Awaitable, Callable, Iterator, List, Tuple, TypeVar

T = TypeVar("T")
Page = Tuple[List[T], Any]


def follow(ask: Callable[[Any], Page[T]]) -> Iterator[T]:
    """The items of page after page: each is asked for, by the mark of the one before, when that has been read."""
    mark: Any = None
    while True:
        items, mark = ask(mark)
        yield from items
        if mark is None:
            return


async def follow_async(ask: Callable[[Any], Awaitable[Page[T]]]) -> AsyncIterator[T]:
    mark: Any = None
    while True:
        items, mark = await ask(mark)
        for item in items:
            yield item
        if mark is None:
            return
