# What a reader has before the first block: the programs of the snippets, which say so if they fail.
set -euo pipefail
started=()

# Ends a function below that calls itself, also if each call is in a bash of its own. The deepest chain is npx, millrace, stay.
shallow() {
  ((${#FUNCNAME[@]} <= 10)) && return
  echo "a function of test/snippets/prelude.sh calls itself: ${FUNCNAME[*]:1:3}" >&2
  exit 1
}

# The test ends this process group in time. If the test itself was killed, this does.
{
  sleep "$LIMIT_S"
  kill -KILL -- "-$$"
} > /dev/null 2>&1 < /dev/null &

# Starts a program that runs until a signal, and returns when it has printed a line that matches.
stay() {
  shallow
  local ready=$1 output
  output=$(mktemp -u)
  shift
  mkfifo "$output"
  "$@" > "$output" 2>&1 < /dev/null &
  started+=("$!")
  {
    while read -r line <&3; do
      if [[ $line =~ $ready ]]; then
        cat <&3 > /dev/null &
        return 0
      fi
      echo "$line" >&2
    done
    echo "ended before it was ready: $*" >&2
    return 1
  } 3< "$output"
}

millrace() {
  shallow
  case " $* " in
    *' --help '* | *' --detach '*) "$NODE" "$MAIN" "$@" ;;
    ' serve '*) stay '^\[.*INFO: serving|"msg":"serving"' "$NODE" "$MAIN" "$@" ;;
    ' worker start '*) stay ' is ready' "$NODE" "$MAIN" "$@" ;;
    ' demo worker '*) stay ' is ready' "$NODE" "$MAIN" "$@" ;;
    ' demo ' | ' demo start '*) stay '^Open http' "$NODE" "$MAIN" "$@" ;;
    ' events -f '*)
      # Nothing is printed before something happens.
      while :; do "$NODE" "$MAIN" enqueue mail '{"fails":true}' --max-attempts 1 --wait > /dev/null 2>&1 || true; done &
      local producer=$!
      stay . "$NODE" "$MAIN" "$@"
      kill "$producer"
      ;;
    *) "$NODE" "$MAIN" "$@" ;;
  esac
}

npx() {
  shallow
  "$@"
}

# A status of 4xx or 5xx is a failure. A stream has no end: its head is enough.
curl() {
  shallow
  echo '=== answer ==='
  case " $* " in
    *' -N '*) stay '^HTTP/1.1 200' command curl -sS -i "$@" ;;
    *) command curl -sS --fail-with-body -w '\n%{http_code}\n' "$@" ;;
  esac
}

# Ends what still runs, the last one first, and requires that it ends well.
leave() {
  local at pid
  for ((at = ${#started[@]} - 1; at >= 0; at--)); do
    pid=${started[at]}
    kill -TERM "$pid"
    # Commands that only look end by the signal, and programs that work by 0.
    wait "$pid" || case $? in 130 | 143) ;; *) return 1 ;; esac
  done
}
