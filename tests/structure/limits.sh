# House rules that a reader would otherwise have to check: short headers, no macros, no heavy includes.
#   sh limits.sh <root>
set -eu
cd "$1/include"
status=0
headers=$(find headwise -name '*.hpp' -o -name '*.inc' | LC_ALL=C sort)

for header in $headers; do
  lines=$(wc -l <"$header")
  if [ "$lines" -gt 400 ]; then
    echo "$header has $lines lines; the limit is 400"
    status=1
  fi
done

# core/each_target.inc compiles loops once an instruction set, which takes macros; it undefines them, and the two by
# which it is told what to compile.
if grep -nE '^[[:space:]]*#[[:space:]]*define' $(echo "$headers" | grep -vx 'headwise/core/each_target\.inc') |
  grep -vE '#define HEADWISE_TARGET_(SPACE|BODY) '; then
  echo "^ a macro"
  status=1
fi
if grep -nE '^[[:space:]]*#[[:space:]]*include <(Eigen/Dense|regex|iostream|random)>' $headers; then
  echo "^ an include that costs too much compile time"
  status=1
fi
if grep -nE 'std::(cout|cerr|printf|puts|abort|exit)\b' $headers; then
  echo "^ a library neither prints nor ends the program"
  status=1
fi
exit $status
