#!/bin/sh
# Installs each file given into an empty environment, with nothing of the checkout in reach, and walks the README's first steps.
# `make package` gives PIP; PYTHONS="python3.11 python3.13" tries several; those that are not there are named and left out.
set -eu
for python in ${PYTHONS:-$PYTHON}; do
    command -v "$python" > /dev/null || { echo "$python: not on this machine"; continue; }
    for file in "$@"; do
        file=$(readlink -f "$file") empty=$(mktemp -d)
        "$python" -m venv --without-pip "$empty/venv"
        $PIP --python "$empty/venv/bin/python" install --quiet --disable-pip-version-check --no-compile "$file"
        (
            cd "$empty"
            PATH="$empty/venv/bin:$PATH"
            unset PYTHONPATH MEMCTL_WORKSPACE MEMCTL_NOW
            memctl init notes > /dev/null 2>&1
            memctl retain "Uses PostgreSQL 16" --about Atlas --key db -w notes > /dev/null
            memctl recall "which database does Atlas use?" -w notes | grep -q '^1\. memory/.*#L5'
            memctl reflect -w notes > /dev/null
            memctl check -q -w notes
        )
        echo "$("$python" --version): $(basename "$file") answers"
        rm -rf "$empty"
    done
done
