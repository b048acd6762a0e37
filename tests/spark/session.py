"""A real Spark on this machine for tests: one session per process, on any Java that is there or on that of a package.

Tests that use it belong to one group, so that of several workers only one starts a JVM.
"""

import functools
import os
from importlib.util import find_spec

import pytest

FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xmx1g"  # a JVM that lives for a minute should not compile for an hour

NEEDS_SPARK = [
    pytest.mark.xdist_group("spark"),
    pytest.mark.skipif(find_spec("pyspark") is None, reason="needs incrowd[spark]"),
    pytest.mark.filterwarnings("ignore"),  # of pyspark: sockets that it leaves open, versions of pandas
]


@functools.cache
def spark_session():
    """The session of this process."""
    from incrowd.engines.spark.session import session_of

    os.environ.setdefault("JDK_JAVA_OPTIONS", FAST)
    session = session_of("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session
