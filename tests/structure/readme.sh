# The README's table links the docs page of every variant, and every link in it to a page or file leads somewhere.
#   sh readme.sh <root>
set -eu
cd "$1"
status=0

for variant in $(sed -n 's/^headwise_variant(\(.*\))$/\1/p' cmake/Variants.cmake); do
  if ! grep -q "^|.*](docs/$variant\.md)" README.md; then
    echo "README.md has no table row that links docs/$variant.md"
    status=1
  fi
done

# The part of each `](path)` before a `#`, without web addresses.
for link in $(grep -o '](\([^)# ]*\)' README.md | sed 's/^](//' | grep -v '^[a-z]*:' | LC_ALL=C sort -u); do
  if [ ! -e "$link" ]; then
    echo "README.md links $link, which does not exist"
    status=1
  fi
done
exit $status
