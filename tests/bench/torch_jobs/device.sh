#!/usr/bin/env bash
# Runs the benches of PyTorch jobs from a bundle, wherever it lies. Results go to $OUT, or to ./out.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
OUT=${OUT:-$PWD/out}
python=${PYTHON:-python3}

usage() {
  cat <<'TEXT'
usage: device.sh VERB [flags]

  check              what is there: driver, PyTorch, the shim, the daemon
  prewarm [flags]    compile the arms of all jobs, several at once, into the caches that measure uses
  measure [flags]    training steps of the jobs, arms interleaved
  tune [flags]       a job under blazed, from its beginning to the next job that is served
  flips [flags]      the same job tuned by fresh processes: whether the same plan settles
  attached [flags]   what being attached costs where nothing is tried
  complete [flags]   whole training runs to one loss, with and without blazed, wall clock of everything

Several verbs may be given, with `--` between them: device.sh prewarm --seconds 200 -- measure --jobs attn257
Each verb has --help. PYTHON names another Python, BLAZED_BENCH_CACHE the folder of the caches.
TEXT
}

export OUT PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH=$here/python${PYTHONPATH:+:$PYTHONPATH}
export LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export BLAZED_LIBRARY=$here/lib/libblazed.so.0 BLAZED_BENCH_ROOT=$here
unset BLAZED_SOCKET BLAZED_MODE

check() {
  nvidia-smi --query-gpu=name,driver_version,memory.used,memory.total --format=csv,noheader || echo 'no driver answers'
  "$here/bin/blazed" --version
  "$python" - <<'PY'
import platform, torch, blazed, blazed.torch
print("Python", platform.python_version(), "PyTorch", torch.__version__, "CUDA", torch.version.cuda, torch.cuda.is_available())
print("shim", blazed.__version__, "train_step", hasattr(blazed.torch, "train_step"))
print(blazed.status())
PY
}

one() {
  local verb=$1
  shift
  case $verb in
    check) check "$@" ;;
    prewarm | measure | tune | complete | flips | attached) "$python" -W ignore "$here/bench/torch_jobs/$verb.py" "$@" ;;
    help | -h | --help) usage ;;
    *)
      usage >&2
      printf 'device.sh: unknown verb %s\n' "$verb" >&2
      exit 2
      ;;
  esac
}

mkdir -p "$OUT"
(($#)) || set -- help
words=()
for word in "$@" --; do
  if [[ $word == -- ]]; then
    ((${#words[@]} == 0)) || one "${words[@]}"
    words=()
  else
    words+=("$word")
  fi
done
