"""What is public: its names, and the signatures of its functions and methods. Run it as a program to write `public.txt` anew."""

import inspect
import pathlib
import re
import sys
import unittest

import millrace

FILE = pathlib.Path(__file__).with_name("public.txt")


def signature(value):
    """An exception without an `__init__` of its own has no signature."""
    try:
        return re.sub("<object object at [^>]*>", "UNSET", str(inspect.signature(value)))
    except ValueError:
        return "(*args)"


def lines():
    for name in sorted(millrace.__all__):
        value = getattr(millrace, name)
        if not callable(value):
            yield "%s = %r" % (name, value)
        elif not inspect.isclass(value):
            yield name + signature(value)
        elif issubclass(value, dict):
            yield from ("%s.%s: %s" % (name, each, kind.__forward_arg__) for each, kind in value.__annotations__.items())
        else:
            yield name + signature(value)
            methods = inspect.getmembers(value, inspect.isfunction)
            yield from ("%s.%s%s" % (name, each, signature(method)) for each, method in methods if not each.startswith("_"))


@unittest.skipIf(sys.version_info < (3, 9), "a generic class has no signature")
class Public(unittest.TestCase):
    def test_names_and_signatures_are_those_that_were_promised(self):
        self.assertEqual(list(lines()), FILE.read_text("utf-8").splitlines())


if __name__ == "__main__":
    FILE.write_text("\n".join(lines()) + "\n", "utf-8")
