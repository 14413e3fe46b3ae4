# A variant is four files of one name, registered by one line in Variants.cmake:
#
#   headwise_variant(mask/causal)
#
# headwise_require_variant_files() stops the configure step when one of the four is missing, and names them all.
# bench/ and tests/ make the targets: headwise_mask_causal_bench and headwise_mask_causal_test.

# include/headwise/<variant>.hpp, tests/<variant>_test.cpp, bench/<variant>_bench.cpp and docs/<variant>.md.
function(headwise_variant variant)
  set_property(GLOBAL APPEND PROPERTY HEADWISE_VARIANTS "${variant}")
  foreach(file IN ITEMS "include/headwise/${variant}.hpp" "tests/${variant}_test.cpp" "bench/${variant}_bench.cpp"
                        "docs/${variant}.md")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${file}")
      set_property(GLOBAL APPEND PROPERTY HEADWISE_MISSING_FILES "${file}")
    endif()
  endforeach()
endfunction()

function(headwise_require_variant_files)
  get_property(missing GLOBAL PROPERTY HEADWISE_MISSING_FILES)
  if(missing)
    list(JOIN missing "\n  " lines)
    message(FATAL_ERROR "A variant has a header, a test, a benchmark and a docs page. Missing:\n  ${lines}")
  endif()
endfunction()
