# What .ci/run and .ci/run-long have in common: they name their parts and end with `run_parts "$@"`.
#
# `runs_beside` names parts that run beside the one that builds in release, which keeps one processor busy for long.
# What they need of the debug build is made at their place, by a function with the part's name and -first. Before all
# parts runs `prepare`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
self=.ci/$(basename "$0")
passed=.build/passed${self#.ci/run}
parts=() times=() beside=() runs_beside=""
declare -A shows jobs inputs commands tried

# A part: its name, its job if there are several, what it depends on besides the sources and the scripts, what it shows,
# and the command that shows it, unless a function has the part's name.
part() {
  parts+=("$1")
  jobs[$1]=$2 inputs[$1]=$3 shows[$1]=$4 commands[$1]=${5:-$1}
}

refuse() {
  echo "$*: $self --list names them." >&2
  exit 2
}

# Installs what the tests use beyond the README's command; a test whose tool is absent says so and is skipped.
install_packages() {
  if ! command -v apt-get >/dev/null; then
    echo "no apt-get here: install SQLite 3 and zlib with their headers by hand"
    return 0
  fi
  local sudo=""
  [ "$(id -u)" = 0 ] || sudo="sudo"
  $sudo apt-get update -qq
  DEBIAN_FRONTEND=noninteractive .ci/quietly $sudo apt-get install -y -qq libsqlite3-dev zlib1g-dev libxml2 python3 \
    strace valgrind binutils xfsprogs make tcl attr
}

# A digest of what a part's result depends on: the checkout's files, the toolchain, the system's libraries, the corpus.
# (Without git, which refuses another user's checkout, as a container's is, and which an archive of the sources lacks.)
state() {
  {
    echo "${factor:-} ${HEIRLOOM_SEED:-}"
    swift --version 2>/dev/null
    dpkg-query -W libsqlite3-dev zlib1g-dev libxml2 2>/dev/null || true
    find ../shared/corpus -type f -printf '%P %s %T@\n' 2>/dev/null | sort || true
    # (A name of a list is split on purpose.)
    find Sources Package.swift .ci Tests/Outside ${inputs[$1]} -type f -print0 | sort -z | xargs -0 sha256sum
  } | sha256sum | cut -d' ' -f1
}

# Notes that a part passed with what it depended on before. (What was changed meanwhile was not tried.)
note() {
  mkdir -p "$passed"
  echo "$2" >"$passed/$1"
  times+=("$(printf '%5s s  %s' "$((SECONDS - began))" "$1$3")")
  echo "-- ${times[-1]}"
}

# Runs a part, and beside the release build those that waited for it.
run_part() {
  local code=0 name
  if [ "$1" = release ] && [ "${#beside[@]}" -gt 0 ]; then
    (for name in "${beside[@]}"; do eval "${commands[$name]}"; done) >"$log" 2>&1 &
  fi
  if [ -n "$2" ]; then
    eval "${commands[$1]}"
    note "$1" "$2" ""
  fi
  [ "$1" = release ] && [ "${#beside[@]}" -gt 0 ] || return 0
  wait "$!" || code=$?
  cat "$log"
  [ "$code" = 0 ] || { echo "beside the release build, one of these failed: ${beside[*]}" >&2; exit "$code"; }
  for name in "${beside[@]}"; do note "$name" "${tried[$name]}" ", beside the release build"; done
}

run_parts() {
  local only_changed="" name chosen=()
  case "${1:-}" in
    --list)
      for name in "${parts[@]}"; do
        printf '%-15s %s\n' "$name" "${jobs[$name]:+$(printf '%-8s ' "${jobs[$name]}")}${shows[$name]}"
      done
      exit
      ;;
    --job)
      for name in "${parts[@]}"; do
        if [ "${jobs[$name]}" = every ] || [ "${jobs[$name]}" = "${2:-}" ]; then chosen+=("$name"); fi
      done
      [ $# -le 2 ] || { echo "A job has all of its parts: nothing may follow its name." >&2; exit 2; }
      [ "${#chosen[@]}" -gt 1 ] || refuse "There is no job \"${2:-}\""
      set -- "${chosen[@]}"
      ;;
    --changed)
      only_changed=yes
      shift
      ;;
  esac
  for name in "$@"; do [ -n "${shows[$name]:-}" ] || refuse "There is no part \"$name\""; done
  [ $# -gt 0 ] || set -- "${parts[@]}"
  if declare -F prepare >/dev/null; then prepare; fi
  log=$(mktemp)
  trap 'rm -f "$log"; kill $(jobs -p) 2>/dev/null || true' EXIT

  local before
  for name in "$@"; do
    printf '\n== %s: %s\n' "$name" "${shows[$name]}"
    began=$SECONDS
    before=$(state "$name")
    if [ -n "$only_changed" ] && [ "$name" != packages ] && [ "$(cat "$passed/$name" 2>/dev/null)" = "$before" ]; then
      times+=("      –  $name: passed before, and nothing that it depends on has changed")
      echo "-- ${times[-1]}"
      before=""
    elif declare -F "$name-first" >/dev/null; then
      "$name-first"
    fi
    if [ -n "$before" ] && [[ " $runs_beside " == *" $name "* && " $* " == *" $name "*"release "* ]]; then
      beside+=("$name")
      tried[$name]=$before
      echo "-- runs beside the release build"
    else
      run_part "$name" "$before"
    fi
  done
  printf '\n== done\n'
  printf '%s\n' "${times[@]}" "$(printf '%5s s  all' "$SECONDS")"
}
