"""Errors name their subject: the key or line of a configuration takes the place of the class."""

import ast
import pickle

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from bench.component import component
from bench.errors import ConfigError, either
from bench.space import HyperParameter


@component
class Sized:
    size: int = 1


@component
class Named:
    name: str = ""


def error_of(call, *arguments, **settings):
    with pytest.raises(ConfigError) as caught:
        call(*arguments, **settings)
    return caught.value


@component
class OfSeveral:
    names: str | list[str] = ""


@pytest.mark.parametrize("value", [7, [7], {"a": 1}])
def test_a_setting_of_several_types_is_called_by_its_name(value):
    assert str(error_of(OfSeveral, names=value)).startswith(
        f"OfSeveral.names: found {value!r}, expected a valid string"
    )


@pytest.mark.parametrize("number", [7, 0.5])
def test_a_number_in_place_of_a_word_is_shown_as_a_word_that_is_taken(number):
    """A column may be called 7."""
    shown = str(error_of(Named, name=number)).rpartition("such as ")[2]
    assert Named(name=ast.literal_eval(shown)).name == str(number)


def test_a_list_of_words_can_be_read_where_a_word_has_a_comma():
    words = ["LinUCB, generated", "triangle", "it's, too"]
    assert ast.literal_eval(f"[{either(words)}]".replace("triangle", "'triangle'")) == words
    assert either([]) == "(none)"


def test_a_setting_begins_with_its_class_until_a_key_is_known_for_it():
    error = error_of(Sized, size="many")
    assert str(error).startswith("Sized.size: found 'many', expected ")
    assert str(error.under("tuner.inner")).startswith("tuner.inner.size: found 'many', expected ")
    assert str(error.under("")).startswith("size: found 'many', expected ")
    assert str(error_of(Sized, width=2).under("env")).startswith("env: found the unknown key 'width'")


def test_the_subject_of_an_error_reaches_another_process():
    for error in (error_of(Sized, size="many"), error_of(HyperParameter, "ridge")):
        error.file = "conf/env/mine.yaml"
        copy = pickle.loads(pickle.dumps(error))
        assert (type(copy), str(copy), vars(copy)) == (type(error), str(error), vars(error))


def test_ipython_shows_the_sentence_and_the_traceback_on_request():
    shell = InteractiveShell.instance()
    with capture_output() as shown:
        shell.run_cell("from bench.errors import BenchError\nraise BenchError('found 1, expected 2')")
    assert shown.stdout.strip() == "BenchError: found 1, expected 2 (%tb shows the traceback)"
    with capture_output() as shown:
        shell.run_cell("%tb")
    assert "Traceback (most recent call last)" in shown.stdout
    assert shown.stdout.strip().endswith("BenchError: found 1, expected 2")
