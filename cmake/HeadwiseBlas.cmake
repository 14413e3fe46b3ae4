# BLAS::BLAS, of 32-bit integers, where there is one.

# A function, so that what the search sets stays here.
function(headwise_find_blas)
  if(TARGET BLAS::BLAS)
    return()
  endif()
  set(BLA_SIZEOF_INTEGER 4)
  find_package(BLAS MODULE QUIET)
endfunction()
