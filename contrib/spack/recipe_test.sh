#!/bin/sh
# recipe_test.sh - the recipe of Spack beside configure.ac and debian/control.
#
# SPDX-License-Identifier: Apache-2.0
set -u
source=${G_TEST_SRCDIR:-.}

command -v python3 >/dev/null || {
  echo "1..0 # SKIP no python3"
  exit 0
}
exec python3 "$source/contrib/spack/recipe_check.py" "$source"
