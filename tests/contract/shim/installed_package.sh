#!/usr/bin/env bash
# Installs the shim to a private prefix, builds minimal_host from there by pkg-config and by CMake
# package, and runs both. Usage: installed_package.sh SOURCE_DIR BUILD_DIR CC
set -euo pipefail
source=$1 build=$2 cc=$3
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
unset BLAZED_MODE XDG_RUNTIME_DIR
export BLAZED_SOCKET="$prefix/none.sock"

cmake --install "$build" --prefix "$prefix/usr" --component shim >/dev/null
config=$(find "$prefix/usr" -name blazed.pc)
library=$(dirname "$(dirname "$config")")

flags=$(PKG_CONFIG_PATH=$(dirname "$config") pkg-config --cflags --libs blazed)
# shellcheck disable=SC2086
$cc -std=c11 -O2 -Wall -Wextra -Werror "$source/client/examples/minimal_host.c" $flags -lm \
  -Wl,-rpath,"$library" -o "$prefix/by_pkg_config"
"$prefix/by_pkg_config" 500 | grep "largest eigenvalue .* plan default; .*no daemon listens there"

cp -r "$source/client/examples" "$prefix/examples"
cmake -G Ninja -S "$prefix/examples" -B "$prefix/build" -DCMAKE_C_COMPILER="$cc" \
  -DCMAKE_PREFIX_PATH="$prefix/usr" >/dev/null
cmake --build "$prefix/build" >/dev/null
"$prefix/build/minimal_host" 500 | grep "largest eigenvalue .* plan default; .*no daemon listens there"
