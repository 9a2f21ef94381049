#!/bin/sh
# The nightly run under cron: deploy/nightly.sh --input /data/crawl --output /data/dedup   (arguments of jobs/rebuild.py)
#
#   30 3 * * *  cd /opt/dedup && DEDUP_ALERT=/usr/local/bin/page deploy/nightly.sh --input /data/crawl --output /data/dedup
#
# What each exit code means stands in README.md, "Every night". 75: another run works there, so wait and try again. 1: a stage
# failed; it goes on where it ended, so try again. All others need somebody: one alert, no further attempt.
#
# DEDUP_COMMAND  what starts the job; here the embedded engine, else "spark-submit --deploy-mode client … dist/rebuild.py"
# DEDUP_ALERT    a command that gets the message as its last argument; without it cron mails what is printed
# DEDUP_ATTEMPTS, DEDUP_WAIT  how often at most, and seconds between
set -u
command=${DEDUP_COMMAND:-.venv/bin/python jobs/rebuild.py --engine embedded}
attempts=${DEDUP_ATTEMPTS:-4}
attempt=1
while :; do
    # shellcheck disable=SC2086 # a command and its arguments
    $command "$@"
    code=$?
    case $code in
    0) exit 0 ;;
    1 | 75) [ "$attempt" -lt "$attempts" ] || break ;;
    *) break ;;
    esac
    attempt=$((attempt + 1))
    sleep "${DEDUP_WAIT:-600}"
done
case $code in
3) what="a gate refused the result; yesterday's is still published; see gates.json of the newest run" ;;
4) what="the input is missing, stale or cannot be used" ;;
75) what="another run has worked in the output all the time" ;;
*) what="the run failed; its log says why" ;;
esac
echo "dedup: exit code $code after $attempt attempt(s): $what" >&2
# shellcheck disable=SC2086
[ -z "${DEDUP_ALERT:-}" ] || ${DEDUP_ALERT} "dedup: exit code $code: $what"
exit $code
