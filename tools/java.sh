#!/bin/sh
# Print the home of a Java 17 or later; install Debian's headless one where that is allowed. --quiet: only look, say nothing.
set -u
quiet=${1:-}

version_of() {
    "$1/bin/java" -version 2>&1 | sed -n 's/.*version "\([0-9]*\)[."].*/\1/p' | head -n 1
}

look() {
    on_path=$(command -v java 2>/dev/null) && on_path=$(readlink -f "$on_path") && on_path=${on_path%/bin/java}
    for home in "${JAVA_HOME:-}" "${on_path:-}" /usr/lib/jvm/*; do
        [ -n "$home" ] && [ -x "$home/bin/java" ] || continue
        version=$(version_of "$home")
        [ "${version:-0}" -ge 17 ] && printf '%s\n' "$home" && return 0
    done
    return 1
}

look && exit 0
[ "$quiet" = --quiet ] && exit 1

if command -v apt-get >/dev/null 2>&1; then
    if [ "$(id -u)" = 0 ]; then root=; elif sudo -n true 2>/dev/null; then root=sudo; else root=no; fi
    if [ "$root" != no ]; then
        echo "no Java 17 or later found: installing openjdk-17-jre-headless" >&2
        { $root apt-get update -q && $root apt-get install -y -q --no-install-recommends openjdk-17-jre-headless; } >&2 ||
            { $root apt-get install -y -q --no-install-recommends default-jre-headless; } >&2
        look && exit 0
    fi
fi
cat >&2 <<'END'
error: Apache Spark needs Java 17 or later, and none was found in JAVA_HOME, on the PATH or under /usr/lib/jvm.
  Debian, Ubuntu:  sudo apt-get install openjdk-17-jre-headless
  elsewhere:       install any JDK 17 or later and set JAVA_HOME to its folder
  or use the embedded engine, which needs none:  make run
END
exit 2
