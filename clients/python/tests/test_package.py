"""The package itself: what its files may say."""

import ast
import inspect
import pathlib
import unittest

import millrace

FILES = sorted(pathlib.Path(millrace.__file__).parent.glob("*.py"))


class Package(unittest.TestCase):
    def test_every_file_is_python_3_8_and_short(self):
        for file in FILES:
            with self.subTest(file.name):
                text = file.read_text("utf-8")
                ast.parse(text, feature_version=(3, 8))
                self.assertLess(text.count("\n"), 450)
        self.assertGreater(len(FILES), 10)

    def test_what_is_public_has_words_and_is_there(self):
        for name in millrace.__all__:
            with self.subTest(name):
                value = getattr(millrace, name)
                self.assertTrue(isinstance(value, tuple) or value.__doc__)

    def test_the_asynchronous_client_has_the_same_methods_with_the_same_options(self):
        def methods(kind):
            found = inspect.getmembers(kind, inspect.isfunction)
            return {name: list(inspect.signature(each).parameters.values()) for name, each in found if not name.startswith("_")}

        self.assertEqual(methods(millrace.AsyncClient), methods(millrace.Client))
        self.assertEqual(inspect.signature(millrace.AsyncWorker.stop), inspect.signature(millrace.Worker.stop))
