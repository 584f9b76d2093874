#!/usr/bin/env bash
# The project speaks of itself alone: no file of it names a place on somebody's machine. Brackets keep this file out of its
# own net.
set -euo pipefail
cd "$(dirname "$0")/.."
places='(^|[^A-Za-z0-9_.])/(work|farm|root|home)/[A-Za-z.]|[.][.]/shared|farm[-][a-z]'
if git ls-files -z --cached --others --exclude-standard | xargs -0 -r grep -nIE "$places" -- ; then
    echo "these lines name a place outside the project" >&2
    exit 1
fi
echo "words: $(git ls-files --cached --others --exclude-standard | wc -l) files, none names a place outside the project"
