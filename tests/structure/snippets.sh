# The first ```cpp block of a docs page is code that is compiled and tested: the lines that a test or an example
# marks with `// [docs X/name]` ... `// [docs end]`, dedented.   sh snippets.sh <root>
set -eu
cd "$1"
status=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

dedent() {
  awk '{ line[NR] = $0 }
       /[^ ]/ { match($0, /^ */); if (margin == "" || RLENGTH < margin) margin = RLENGTH }
       END { for (i = 1; i <= NR; ++i) print substr(line[i], margin + 1) }'
}

marks=$(grep -rhoE '// \[docs [^]]+\]' tests/*/*.cpp examples/*.cpp 2>/dev/null |
  sed 's|// \[docs \(.*\)\]|\1|' | grep -v '^end$' | LC_ALL=C sort || true)
for page in $(echo "$marks" | uniq -d); do
  echo "[docs $page] is marked more than once"
  status=1
done

for variant in $(sed -n 's/^headwise_variant(\(.*\))$/\1/p' cmake/Variants.cmake); do
  if ! echo "$marks" | grep -qxF "$variant"; then
    echo "no test or example marks the snippet [docs $variant]"
    status=1
  fi
done

for page in $(echo "$marks" | uniq -u); do
  if [ ! -f "docs/$page.md" ]; then
    echo "[docs $page] is marked, but docs/$page.md does not exist"
    status=1
    continue
  fi
  source=$(grep -rlF "// [docs $page]" tests/*/*.cpp examples/*.cpp 2>/dev/null)
  awk -v begin="// [docs $page]" 'index($0, "// [docs end]") { inside = 0 }
                                  inside
                                  index($0, begin) { inside = 1 }' "$source" | dedent >"$work/compiled"
  awk '/^```/ && inside { exit }
       inside
       /^```cpp/ { inside = 1 }' "docs/$page.md" | dedent >"$work/shown"
  if [ ! -s "$work/compiled" ] || ! diff -u "$work/compiled" "$work/shown" >"$work/diff"; then
    echo "docs/$page.md shows other code than $source:"
    sed 1,2d "$work/diff"
    status=1
  fi
done
exit $status
