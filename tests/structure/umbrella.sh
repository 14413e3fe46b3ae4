# headwise.hpp includes every public header but those of io/ and interop/, which need more than Eigen; and no
# other header leads there.   sh umbrella.sh <root>
set -eu
cd "$1/include/headwise"
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find . -name '*.hpp' ! -path './io/*' ! -path './interop/*' ! -path './headwise.hpp' |
  sed 's|^\./||' | LC_ALL=C sort >"$work/expected"
sed -n 's|^#include <headwise/\(.*\)>.*|\1|p' headwise.hpp >"$work/order"
LC_ALL=C sort "$work/order" >"$work/included"

for header in $(LC_ALL=C comm -23 "$work/expected" "$work/included"); do
  echo "headwise.hpp does not include <headwise/$header>"
  status=1
done
for header in $(LC_ALL=C comm -13 "$work/expected" "$work/included"); do
  echo "headwise.hpp includes <headwise/$header>, which is no header of the core, or twice"
  status=1
done

if grep -nE '^#include <(headwise/(io|interop)/|nlohmann/|utf8proc)' $(cat "$work/expected"); then
  echo "^ outside io/ and interop/ nothing may need more than Eigen"
  status=1
fi
exit $status
