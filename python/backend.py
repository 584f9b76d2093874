"""Makes the wheel: `make` builds the core and the extension, this zips them. A build backend without dependencies, so that
`pip install ./python` needs a C compiler, make and Python's headers, and no network.

    backend.py FOLDER OUT   what `make python` runs: the wheel of the package in FOLDER/redax, written to OUT

The wheel holds redax/_redax.abi3.so (one file for CPython 3.11 and later), libredax.so.0 beside it and, where it was built,
the CUDA plugin, which libredax looks for beside itself. The platform tag is read off the files: the newest version of glibc
that any of them asks for."""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import tomllib
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
# What a manylinux machine has; CUDA's driver and runtime are no part of it, nor of the wheel.
ALLOWED = re.compile(r"(libc|libm|libdl|libpthread|librt|libgcc_s|libstdc\+\+|libredax)\.so\.\d+|ld-linux[-\w.]*")


def project():
    with open(HERE / "pyproject.toml", "rb") as stream:
        return tomllib.load(stream)["project"]


def version():
    return re.search(r"^VERSION := (\S+)$", (ROOT / "Makefile").read_text(), re.M)[1]


def glibc_of(library):
    """The newest 2.X of glibc that the library's symbols ask for; complains of libraries that not everyone has."""
    text = subprocess.run(["readelf", "--wide", "-d", "-V", library], check=True, capture_output=True, text=True).stdout
    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", text):
        if not ALLOWED.fullmatch(needed):
            sys.exit(f"{library} needs {needed}, which a wheel cannot count on")
    return max((int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", text)), default=17)


def tag(folder):
    newest = max(map(glibc_of, sorted(folder.glob("*.so*"))))
    return f"cp311-abi3-manylinux_2_{max(newest, 17)}_{platform.machine()}"


def metadata():
    about = project()
    lines = ["Metadata-Version: 2.4", f"Name: {about['name']}", f"Version: {version()}", f"Summary: {about['description']}",
             f"Keywords: {','.join(about['keywords'])}", f"License-Expression: {about['license']}", "License-File: LICENSE",
             f"Requires-Python: {about['requires-python']}", "Description-Content-Type: text/markdown", ""]
    return "\n".join(lines) + "\n" + (HERE / about["readme"]).read_text()


def files_of(folder, tag):
    """(name in the wheel, bytes, whether it is run or loaded)"""
    info = f"redax-{version()}.dist-info"
    for path in sorted(folder.iterdir()):
        if path.is_file():
            yield f"redax/{path.name}", path.read_bytes(), ".so" in path.name
    yield f"{info}/licenses/LICENSE", (ROOT / "LICENSE").read_bytes(), False
    yield f"{info}/METADATA", metadata().encode(), False
    yield f"{info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: redax\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False


def write_wheel(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    wheel_tag = tag(folder)
    name = f"redax-{version()}-{wheel_tag}.whl"
    record = f"redax-{version()}.dist-info/RECORD"
    out.mkdir(parents=True, exist_ok=True)
    lines = []
    with zipfile.ZipFile(out / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, content, runs in files_of(folder, wheel_tag):
            entry = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0)) # the same files make the same wheel
            entry.external_attr = (0o755 if runs else 0o644) << 16
            wheel.writestr(entry, content, zipfile.ZIP_DEFLATED)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{path},sha256={digest},{len(content)}\n")
        wheel.writestr(zipfile.ZipInfo(record, (1980, 1, 1, 0, 0, 0)), "".join(lines) + f"{record},,\n")
    return name


# ---- The hooks of a build backend ----

def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    build = os.environ.get("BUILD", "build")
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("MAKE", "MFLAGS"))}
    jobs = f"-j{os.cpu_count() or 1}"
    subprocess.run(["make", "-C", ROOT, jobs, "python-package", f"PYTHON={sys.executable}", f"BUILD={build}"], check=True,
                   env=environment)
    return write_wheel(ROOT / build / "python" / "redax", wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("redax for Python is built from the whole repository: pip install ./python there")


if __name__ == "__main__":
    print(pathlib.Path(sys.argv[2]) / write_wheel(sys.argv[1], sys.argv[2]))
