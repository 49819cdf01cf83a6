# Installs Debian packages without letting them start a service: a server on a
# well-known port is nothing that a test suite may leave on a machine. What is
# said goes to standard error.
set -eu

# Both service helpers of Debian ask this file, and nothing else, for permission.
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ]; then
    trap 'rm -f "$policy"' EXIT
    trap 'exit 130' HUP INT TERM
    printf '#!/bin/sh\nexit 101\n' >"$policy"
    chmod 755 "$policy"
fi

export DEBIAN_FRONTEND=noninteractive
# One broken source of many need not matter; what is missing shows in the next step.
apt-get update -qq >/dev/null || echo 'apt-get update failed; trying with the old lists' >&2
apt-get install -y -qq --no-install-recommends \
    -o DPkg::Lock::Timeout=120 "$@" >/dev/null

# The package also asks for a start at the next boot.
if command -v systemctl >/dev/null; then
    for package in "$@"; do
        systemctl --quiet disable "$package" >/dev/null 2>&1 || true
    done
fi
