"""A distribution for a test: a minimal root without a compiler, entered with no network and nothing of this machine but
the kernel. Needs root."""
import os
import pathlib
import shutil
import subprocess
import tempfile

_COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "tcc", "as", "ld", "make", "cmake", "rustc")
_ABOUT = ("import os, sys\n"
          "print(os.confstr('CS_GNU_LIBC_VERSION').split()[1], '.'.join(map(str, sys.version_info[:3])))\n")
# The mounts go with the process; what is in the root is seen as the root itself.
_ENTER = 'mount -t proc proc "$1/proc" && exec chroot "$@"'


class Distribution:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.name = self.root.name
        scratch = tempfile.mkdtemp(prefix="b-", dir=self.root / "tmp")
        self.folder = pathlib.Path(scratch)          # from outside
        self.inside = f"/tmp/{self.folder.name}"     # from inside
        glibc, self.python = self.run("python3", "-c", _ABOUT).stdout.split()
        self.glibc = tuple(map(int, glibc.split(".")))

    def close(self):
        shutil.rmtree(self.folder)

    def run(self, *command, **environment):
        clean = {"PATH": "/usr/bin:/bin", "HOME": self.inside, "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1",
                 **environment}
        return subprocess.run(
            ["unshare", "--mount", "--net", "/bin/sh", "-c", _ENTER, "sh", self.root, "/usr/bin/env", "-i",
             *(f"{name}={value}" for name, value in clean.items()), *command],
            capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL)

    def bring(self, *paths):
        """Copies of files of the tree, in the folder."""
        for path in paths:
            shutil.copy(path, self.folder)

    def compilers(self):
        places = [self.root / place for place in ("bin", "usr/bin", "usr/local/bin")]
        return [name for name in _COMPILERS for place in places if os.path.lexists(place / name)]

    def virtual_environment(self):
        """Its python, by the distribution's own venv and pip."""
        ran = self.run("python3", "-m", "venv", f"{self.inside}/venv")
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return f"{self.inside}/venv/bin/python"
