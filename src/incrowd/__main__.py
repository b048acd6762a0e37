"""The command line as a program: `incrowd`, or `python -m incrowd`. An interrupt while it is loaded ends it quietly."""

from __future__ import annotations

import os
import signal
import sys
import threading


def _interrupted(number: int, frame: object) -> None:
    """End at once: nothing was done yet, and a library that is being loaded would lose an exception."""
    os.write(2, b"error: interrupted; no file was written\n")
    os._exit(130)


def _heed_interrupts() -> None:
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupted)


if __name__ == "__main__":  # as soon as possible
    _heed_interrupts()

# Libraries that start threads while they are loaded complain on stderr, or send a signal, where memory is scarce.
QUIET = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}


def main() -> None:
    """Load the commands and run one."""
    _heed_interrupts()
    code: object = 0
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        from incrowd.cli.standard_streams import prepare_streams

        prepare_streams()
        from incrowd.cli import main as run

        run()
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        code = 130
    except (MemoryError, ImportError, OSError, RuntimeError, SystemError) as error:
        from incrowd.errors import NO_MEMORY, ending_behind, lacks_memory

        if ending_behind(error) is not None:
            print("error: interrupted", file=sys.stderr)
            code = 130
        elif lacks_memory(error):
            print(f"error: {NO_MEMORY}", file=sys.stderr)
            code = 1
        else:
            raise
    except SystemExit as ended:
        code = ended.code
    _end(code if isinstance(code, int) else int(bool(code)))


def _end(code: int) -> None:
    """End the process; at once where a thread is still at work, which cannot be told to stop.

    At once after an error, too: libraries that were left without memory may crash while they are tidied up.
    """
    from incrowd.run import BESIDE

    if code == 1 or any(thread.name == BESIDE for thread in threading.enumerate()):
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)
    sys.exit(code)


if __name__ == "__main__":
    main()
