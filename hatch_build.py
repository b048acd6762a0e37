"""Compiles the kernels into a wheel: with the compiler of this machine, else with Zig, which pip installs for that.

`INCROWD_PLATFORM` makes a wheel for another platform (see PLATFORMS); Zig compiles it on any machine.
"""

from __future__ import annotations

import importlib.util
import os
import sysconfig
from pathlib import Path
from types import ModuleType
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORMS = {  # tag of a wheel: target of Zig
    "manylinux_2_17_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux_2_17_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "macosx_11_0_x86_64": "x86_64-macos.11.0",
    "win_amd64": "x86_64-windows-gnu",
}
FOLDER = "search/native"


def _library() -> ModuleType:
    """The module that compiles the kernels, without the package, whose dependencies are not here."""
    path = Path(__file__).parent / "src" / "incrowd" / FOLDER / "library.py"
    spec = importlib.util.spec_from_file_location("incrowd_library", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Kernels(BuildHookInterface[Any]):
    """Compiles the kernels and adds them to the wheel."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What pip installs to build the wheel: a compiler, where there is none, or one for other platforms."""
        if "INCROWD_PLATFORM" not in os.environ:
            library = _library()
            try:
                library.compiler()
            except library.NoCompilerError:
                return ["ziglang>=0.13"]
            return []
        return ["ziglang>=0.13"]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and say which platform the wheel is for."""
        library, platform = _library(), os.environ.get("INCROWD_PLATFORM")
        build_data["pure_python"] = False
        if platform is None:
            tag = sysconfig.get_platform().replace("-", "_").replace(".", "_")
            path = library.library()
        else:
            if platform not in PLATFORMS:
                raise SystemExit(f"INCROWD_PLATFORM must be one of {', '.join(PLATFORMS)}. Got {platform!r}.")
            tag, name = platform, library.file_name(platform.partition("_")[0])
            path = library.made(Path(self.directory) / platform / name, library.zig(PLATFORMS[platform]))
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"][str(path)] = f"incrowd/{FOLDER}/{path.name}"
