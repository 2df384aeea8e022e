#!/bin/sh
# The browser ahead of everything else that runs on this machine, which is not what is measured.
exec chrt --rr 1 "${FIELDLAB_CHROMIUM:-/usr/bin/chromium}" "$@"
