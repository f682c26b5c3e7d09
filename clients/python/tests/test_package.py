"""The package itself: what its files may say."""

import ast
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
