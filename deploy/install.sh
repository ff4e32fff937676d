#!/bin/sh
# Installs the packages of this source folder, and what they depend on, into a directory of their own.
#   deploy/install.sh /opt/quoin
# The command is then /opt/quoin/bin/quoin. A repeated run replaces the version.
set -eu
prefix=${1:?the directory to install to, for example /opt/quoin}
cd "$(dirname "$0")/.."
# `npm ci` builds, too.
if [ -d node_modules ]; then npm run build; else npm ci; fi
packs=$(mktemp -d)
trap 'rm -rf "$packs"' EXIT
npm pack --silent --workspaces --pack-destination "$packs" > "$packs/names"
mkdir -p "$prefix/bin"
npm install --silent --no-audit --no-fund --no-save --omit=dev --prefix "$prefix" "$packs"/*.tgz
ln -sf ../node_modules/.bin/quoin "$prefix/bin/quoin"
"$prefix/bin/quoin" --version
