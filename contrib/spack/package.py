# package.py - a recipe of Spack for hopcast.
#
# SPDX-License-Identifier: Apache-2.0
#
# In a repository of packages of your own (`spack repo create`), as packages/hopcast/package.py.  The
# archive is that of `make dist`, in the current folder; as the recipe is in the archive, it has no checksum
# of it: `spack install --no-checksum hopcast`.  A checkout is built in place by
# `spack dev-build hopcast@0.2.0`.

import os

from spack.package import *

try:
    from spack_repo.builtin.build_systems.autotools import AutotoolsPackage
except ImportError:
    pass  # before Spack 1.0, spack.package has it


class Hopcast(AutotoolsPackage):
    """Forecasts how fast MPI programs communicate on a machine: replays traces on models of
    Blue Gene/Q, tori and InfiniBand clusters, packet by packet."""

    url = f"file://{os.getcwd()}/hopcast-0.2.0.tar.xz"
    manual_download = True

    license("Apache-2.0")

    version("0.2.0")

    variant("mpi", default=True, description="Recorder, hopcast-mpi and hopcast-pingpong")
    variant("otf2", default=True, description="Reader of OTF2 traces")
    variant("scotch", default=True, description="Mappings and parts by Scotch")
    variant("simgrid", default=True, description="Flow-level network of SimGrid")
    variant("svm", default=True, description="Training of support vectors by libsvm")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("autoconf@2.71:", type="build")
    depends_on("autoconf-archive", type="build")
    depends_on("automake@1.16:", type="build")
    depends_on("pkgconfig", type="build")

    depends_on("cminpack")
    depends_on("glib@2.68:")
    depends_on("hwloc@2.1:")
    depends_on("json-glib")
    # configure asks pkg-config for lapacke, which OpenBLAS does not have.
    depends_on("netlib-lapack+lapacke")
    depends_on("sqlite@3.35:")
    depends_on("zlib-api")
    depends_on("mpi", when="+mpi")
    depends_on("otf2@3:", when="+otf2")
    depends_on("scotch", when="+scotch")
    depends_on("simgrid@3.32:", when="+simgrid")
    depends_on("libsvm", when="+svm")

    @run_before("autoreconf")
    def make_folders(self):
        mkdirp("m4", "build-aux")

    def configure_args(self):
        args = []
        for library in ("otf2", "scotch", "simgrid", "svm"):
            args += self.with_or_without(library)
        if self.spec.satisfies("+mpi"):
            args.append(f"MPICC={self.spec['mpi'].mpicc}")
        else:
            args += ["--disable-recorder", "--disable-mpi-study", "--disable-pingpong"]
        return args
