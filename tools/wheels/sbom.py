"""The bill of materials of a wheel: what is compiled or linked into it, as CycloneDX in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from matrix import Target

LLVM_LICENSE = "Apache-2.0 WITH LLVM-exception"
TOOLS = ("ziglang", "scikit-build-core", "cmake", "ninja")


def pins() -> dict[str, str]:
    """Return the versions that wheels are built with."""
    lines = (Path(__file__).parent / "requirements.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if "==" in line)


def component(name: str, number: str, license_id: str, purl: str, role: str) -> dict[str, object]:
    """Return one entry of the bill."""
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": number,
        "licenses": [{"expression": license_id}],
        "purl": purl,
        "description": role,
    }


def sbom(package_version: str, target: Target, tag: str, built_at: str) -> str:
    """Return the bill of materials of the wheel for `target`; `tag` names its Python and ABI."""
    versions = pins()
    nanobind, zig = versions["nanobind"], versions["ziglang"]
    parts = [
        component(
            "nanobind",
            nanobind,
            "BSD-3-Clause",
            f"pkg:pypi/nanobind@{nanobind}",
            "Bindings to Python, linked statically",
        ),
        *(
            component(
                name,
                f"zig-{zig}",
                LLVM_LICENSE,
                f"pkg:generic/llvm-{name}@zig-{zig}",
                f"{role}, linked statically, as distributed with ziglang {zig}",
            )
            for name, role in [
                ("libcxx", "C++ standard library"),
                ("libcxxabi", "C++ run time"),
                ("libunwind", "Stack unwinding"),
            ]
        ),
    ]
    wheel = f"marginboost-{package_version}-{tag}-{target.tag}.whl"
    purl = f"pkg:pypi/marginboost@{package_version}?file_name={wheel}"
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, purl)}",
        "version": 1,
        "metadata": {
            "timestamp": built_at,
            "component": {
                "type": "library",
                "bom-ref": purl,
                "name": "marginboost",
                "version": package_version,
                "licenses": [{"expression": "BSD-3-Clause"}],
                "purl": purl,
            },
            "tools": {
                "components": [
                    {"type": "application", "name": name, "version": versions[name]}
                    for name in TOOLS
                ]
            },
        },
        "components": parts,
        "dependencies": [{"ref": purl, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    return json.dumps(bill, indent=2) + "\n"
