"""recipe_check.py - the recipe of Spack beside configure.ac and debian/control; prints TAP.

SPDX-License-Identifier: Apache-2.0

Usage: recipe_check.py SOURCE-TREE.  The recipe runs with stand-ins for the modules of Spack that it
imports, once as they are since Spack 1.0 and once as they were.  What it asks for is what configure
asks for, with the same versions, and what Debian's packages are built with.
"""
import os
import re
import sys
import types

VARIANTS = ("mpi", "otf2", "scotch", "simgrid", "svm")

# What configure.ac asks for (modules of pkg-config, headers), by the name of Spack's package, and the
# packages of Debian that have it.
LIBRARIES = {
    "cminpack": (["cminpack"], ["libcminpack-dev"]),
    "glib": (["glib-2.0", "gio-2.0"], ["libglib2.0-dev"]),
    "hwloc": (["hwloc"], ["libhwloc-dev"]),
    "json-glib": (["json-glib-1.0"], ["libjson-glib-dev"]),
    "libsvm": (["libsvm/svm.h", "svm.h"], ["libsvm-dev"]),
    "mpi": (["ompi-c", "mpich"], ["libmpich-dev", "libopenmpi-dev"]),
    "netlib-lapack": (["lapacke"], ["liblapacke-dev"]),
    "otf2": (["otf2"], ["libotf2-trace-dev"]),
    "scotch": (["scotch/scotch.h", "scotch.h"], ["libscotch-dev"]),
    "simgrid": (["simgrid"], ["libsimgrid-dev"]),
    "sqlite": (["sqlite3"], ["libsqlite3-dev"]),
    "zlib-api": (["zlib"], ["zlib1g-dev"]),
}
# Tools, with Debian's package; None: it comes with debhelper or build-essential.
TOOLS = {"autoconf": None, "autoconf-archive": "autoconf-archive", "automake": None, "c": None, "cxx": None,
         "pkgconfig": "pkg-config"}
DEBIAN_ALONE = {"debhelper-compat", "mpich", "openmpi-bin", "procps"}  # the last three for tests
tests = []


def check(name, *problems):
    problems = [problem for problem in problems if problem]
    tests.append(name)
    print(f"{'not ok' if problems else 'ok'} {len(tests)} - {name}")
    for problem in problems:
        print(f"# {problem}")


def number(version):
    """3.0 and 3 are one version."""
    parts = [int(part) for part in version.split(".")] if version else []
    while parts and parts[-1] == 0:
        parts.pop()
    return parts


class Package:
    """The part of Spack's class that the recipe uses."""

    chosen = ()

    @property
    def spec(self):
        spec = types.SimpleNamespace(satisfies=lambda variant: variant.lstrip("+") in self.chosen)
        return Mapping(spec, {"mpi": types.SimpleNamespace(mpicc="/mpi/bin/mpicc")})

    def with_or_without(self, name):
        return [f"--{'with' if name in self.chosen else 'without'}-{name}"]


class Mapping:
    def __init__(self, spec, parts):
        self.satisfies, self.parts = spec.satisfies, parts

    def __getitem__(self, name):
        return self.parts[name]


def recipe_of(path, is_new):
    """The recipe's class, and its calls: (function, first argument, other arguments)."""
    calls = []

    def note(function):
        return lambda first, **others: calls.append((function, first, others))

    spack = types.ModuleType("spack.package")
    for function in ("license", "version", "variant", "depends_on"):
        setattr(spack, function, note(function))
    spack.run_before = lambda phase: lambda method: method
    spack.mkdirp = lambda *folders: None
    modules = {"spack": types.ModuleType("spack"), "spack.package": spack}
    if is_new:
        where = "spack_repo.builtin.build_systems.autotools"
        for end in [i for i, letter in enumerate(where) if letter == "."] + [len(where)]:
            modules[where[:end]] = types.ModuleType(where[:end])
        modules[where].AutotoolsPackage = Package
    else:
        spack.AutotoolsPackage = Package
    sys.modules.update(modules)
    names = {}
    try:
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), names)
    finally:
        for name in modules:
            del sys.modules[name]
    return names["Hopcast"], calls


def split_spec(spec):
    """glib@2.68: is glib, 2.68."""
    name, _, version = re.fullmatch(r"([a-z0-9-]+)(?:\+[a-z]+)?(@([0-9.]+):)?", spec).groups()
    return name, version


def main():
    source = sys.argv[1]
    path = os.path.join(source, "contrib/spack/package.py")
    with open(os.path.join(source, "configure.ac"), encoding="utf-8") as file:
        configure = file.read()
    with open(os.path.join(source, "debian/control"), encoding="utf-8") as file:
        control = file.read()

    recipe_class, calls = recipe_of(path, True)
    check("the recipe is the same before Spack 1.0", calls != recipe_of(path, False)[1] and "other calls")

    def given(function):
        return [(first, others) for wanted, first, others in calls if wanted == function]

    version = re.search(r"^AC_INIT\(\[hopcast\],\[(.*?)\]\)", configure, re.M).group(1)
    check("the version of configure.ac", given("version") != [(version, {})] and given("version"),
          not recipe_class.url.endswith(f"/hopcast-{version}.tar.xz") and recipe_class.url)

    # Each variant alone, and none, and all.
    known = set(re.findall(r"^ *AC_ARG_(?:WITH|ENABLE)\(\[([a-z0-9-]+)\]", configure, re.M))
    variants = [first for first, others in given("variant")]
    check("variants", sorted(variants) != list(VARIANTS) and variants)
    recipe, problems = recipe_class(), []
    for chosen in [(), VARIANTS, *((one,) for one in VARIANTS)]:
        recipe.chosen = chosen
        arguments = recipe.configure_args()
        for name in VARIANTS[1:]:
            if f"--{'with' if name in chosen else 'without'}-{name}" not in arguments:
                problems.append(f"{chosen}: {name} is not decided by {arguments}")
        if ("MPICC=/mpi/bin/mpicc" in arguments) != ("mpi" in chosen):
            problems.append(f"{chosen}: {arguments}")
        for argument in arguments:
            name = re.fullmatch(r"--(?:with|without|enable|disable)-(.*)|([A-Z]+)=.*", argument)
            if name.group(1) not in known if name.group(1) else f"AC_ARG_VAR([{name.group(2)}]" not in configure:
                problems.append(f"configure.ac has no {argument}")
    check("configure knows every option, and each variant is said", *problems)
    recipe.chosen = ()
    said = {re.sub("^--[a-z]*-", "", argument) for argument in recipe.configure_args()}
    check("every option of configure that leaves something out is used",
          f"{known - {'werror', 'sanitizers'} ^ said}" if known - {"werror", "sanitizers"} != said else None)

    # Modules with their versions, and headers.
    asked = {}
    for modules in re.findall(r"PKG_CHECK_MODULES\(\[[A-Z0-9_]+\],\[(.*?)\]", configure):
        for module, least in re.findall(r"([a-z0-9.-]+)(?: >= ([0-9.]+))?", modules):
            asked[module] = least
    for headers in re.findall(r"AC_CHECK_HEADERS\(\[([^]]*)\]", configure):
        asked.update((header, "") for header in headers.split())
    mapped = {module for modules, _ in LIBRARIES.values() for module in modules}
    check("the libraries of configure.ac are known here", *sorted(mapped ^ set(asked)))

    build, needs, problems = {}, {}, []
    for spec, others in given("depends_on"):
        name, least = split_spec(spec)
        (build if others.get("type") == "build" else needs)[name] = (least, others.get("when"))
    for name in sorted(set(LIBRARIES) ^ set(needs)):
        problems.append(f"{name}: only in one of the recipe and configure.ac")
    for name in set(LIBRARIES) & set(needs):
        least = max((number(asked.get(module, "")) for module in LIBRARIES[name][0]), default=[])
        if number(needs[name][0]) != least:
            problems.append(f"{name}: {needs[name][0]} in the recipe, {least} in configure.ac")
        variant = name.replace("lib", "") if name != "zlib-api" else None
        if needs[name][1] != (f"+{variant}" if variant in VARIANTS else None):
            problems.append(f"{name}: when={needs[name][1]}")
    check("the recipe needs the libraries of configure.ac", *problems)

    for name, pattern in (("autoconf", r"^AC_PREREQ\(\[(.*?)\]"), ("automake", r"^AM_INIT_AUTOMAKE\(\[([0-9.]+)")):
        wanted = re.search(pattern, configure, re.M).group(1)
        check(f"the version of {name}", build.get(name, ("",))[0] != wanted and f"{build.get(name)}, not {wanted}")
    check("tools", *sorted(set(TOOLS) ^ set(build)))

    field = re.search(r"^Build-Depends:(.*?)^[A-Z]", control, re.M | re.S).group(1)
    debian = {re.match(r"[a-z0-9.+-]+", one.strip()).group(0) for one in field.split(",")} - DEBIAN_ALONE
    wanted = {package for _, packages in LIBRARIES.values() for package in packages} | {one for one in TOOLS.values() if one}
    check("Debian's packages are built with the same", *sorted(debian ^ wanted))
    print(f"1..{len(tests)}")


main()
