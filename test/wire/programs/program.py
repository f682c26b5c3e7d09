"""The client of this checkout, and the functions by which a program says what it finds."""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "clients" / "python"))

import millrace  # noqa: E402


def say(**what):
    print(json.dumps(what), flush=True)


def refusal(call, *args, **options):
    try:
        return call(*args, **options)
    except millrace.Error as error:
        return error.code
