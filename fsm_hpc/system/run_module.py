"""Run a module as `python -m` does, but import nothing from the working directory."""

import sys

if __name__ == "__main__":
    # Python 3.10 has no -P, and `-m` and `-c` put the working directory first on the path. A
    # script puts its own folder there, which is removed before any import.
    if not getattr(sys.flags, "safe_path", sys.flags.isolated):
        del sys.path[0]
    import runpy

    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
