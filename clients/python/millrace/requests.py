"""What calls are made of: a request, several in a row, and pages. How they are sent is not known here."""

from __future__ import annotations

from typing import Any, Callable, Generator, Generic, List, Optional, Tuple, TypeVar

from ._calls import CALLS
from .encoding import Seconds, encoded, number, trimmed
from .errors import Error, in_python

T = TypeVar("T")
# Items, and the mark that the next page is behind; None: there is none.
Page = Tuple[List[T], Any]


class Request(Generic[T]):
    """One call: its operation, its fields, and what its answer means."""

    __slots__ = ("op", "fields", "_read")

    def __init__(self, op: str, *fields: Any, read: Callable[[Any], T]) -> None:
        self.op, self.fields, self._read = op, fields, read

    def answer(self, value: Any) -> T:
        """Raises Error (PROTOCOL) for what an answer to it is not, and what the answer says."""
        try:
            return self._read(value)
        except (IndexError, KeyError, TypeError, ValueError) as error:
            raise Error("PROTOCOL", "the answer of %s cannot be read: %r" % (self.op, error)) from error

    def behind(self, mark: Any, **others: Any) -> Request[T]:
        """The same call for what comes behind the mark, with other fields that change."""
        fields = list(self.fields)
        for name, value in {"mark": mark, **others}.items():
            place = CALLS[self.op][name][0]
            fields += [None] * (place + 1 - len(fields))
            fields[place] = value
        return Request(self.op, *fields, read=self._read)


class Patient(Request[T]):
    """A request whose answer may take long. `again`: it is sent again after a break, because to ask twice does no harm."""

    __slots__ = ("what", "timeout", "again")

    def __init__(
        self, op: str, *fields: Any, read: Callable[[Any], T], what: str = "no event", timeout: Optional[Seconds] = None, again: bool = True
    ) -> None:
        super().__init__(op, *fields, read=read)
        self.what, self.timeout, self.again = what, number("timeout", timeout, 0), again


# Several requests, one after the other: each is answered before the next is asked for. It returns what the whole has come to.
Steps = Generator[Request[Any], Any, T]
# Asks for the page behind a mark; None: the first.
Pages = Callable[[Any], Request[Page[T]]]
# The same without an end: the page behind the last one comes when there is something in it.
Feed = Callable[[Any], Patient[Page[T]]]


def asked(op: str, read: Callable[[Any], T], /, **given: Any) -> Request[T]:
    """A request of the fields that are given, by their names here. Raises Error (OPTION_TYPE)."""
    return Request(op, *trimmed(encoded(CALLS[op], given)), read=read)


def made(make: Callable[..., Any], call: Callable[..., T], *args: Any, **options: Any) -> T:
    """What the call returns, whose errors name the method that `make` is for. Raises TypeError, Error."""
    try:
        return call(*args, **options)
    except Error as error:
        raise _named(make, error) from None


def told(make: Callable[..., Any], op: str, error: Error) -> Error:
    """The error as the method of that name raises it: options have their names and units of Python."""
    return _named(make, in_python(op, error)) if error.code in ("OPTION_TYPE", "OPTION_RANGE") else error


def _named(make: Callable[..., Any], error: Error) -> Error:
    named = Error(error.code, "%s(): %s" % (make.__name__, error.message), error.details)
    named.done, named.__suppress_context__ = error.done, True
    return named


def nothing(_answer: Any) -> None:
    return None


def or_none(view: Callable[[Any], T]) -> Callable[[Any], Optional[T]]:
    return lambda said: None if said is None else view(said)


def behind_next(items: str, view: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    """Of an operation whose page says where the next one begins. Of what is not there, nothing is on it."""
    return lambda reply: ([], None) if reply is None else ([view(each) for each in reply[items]], reply.get("next"))


def behind_last(size: int, mark: str, view: Callable[[Any], T]) -> Callable[[Any], Page[T]]:
    """Of an operation whose page goes on behind the last item of the one before."""
    return lambda reply: ([view(each) for each in reply], reply[-1][mark] if len(reply) == size else None)
