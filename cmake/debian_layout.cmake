# Run by cpack on the installed tree before it is packed. For the .deb: what Debian has of its own goes (libraries, which
# become dependencies), and programs, manual pages, completions and documents go where Debian looks for them.
if(NOT CPACK_GENERATOR STREQUAL "DEB")
  return()
endif()
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY})
set(prefix ${root}/usr/lib/regraph)
if(NOT EXISTS ${prefix}/bin/regraph)
  message(FATAL_ERROR "${prefix}/bin/regraph is not there: has the layout of cpack changed?")
endif()

file(GLOB libraries LIST_DIRECTORIES false ${prefix}/lib/*)
file(REMOVE ${libraries})

file(GLOB programs RELATIVE ${prefix}/bin ${prefix}/bin/regraph-*)
list(REMOVE_ITEM programs regraph-eval regraph-compile-worker regraph-score-worker regraph-judge)
file(MAKE_DIRECTORY ${root}/usr/bin)
foreach(program ${programs})
  file(CREATE_LINK ../lib/regraph/bin/${program} ${root}/usr/bin/${program} SYMBOLIC)
endforeach()

file(MAKE_DIRECTORY ${root}/usr/share/doc/regraph)
foreach(folder man bash-completion fish)
  file(RENAME ${prefix}/share/${folder} ${root}/usr/share/${folder})
endforeach()
file(MAKE_DIRECTORY ${root}/usr/share/zsh)
file(RENAME ${prefix}/share/zsh/site-functions ${root}/usr/share/zsh/vendor-completions)
file(REMOVE_RECURSE ${prefix}/share/zsh ${root}/usr/share/man/man1/regraph-score-worker.1
  ${root}/usr/share/man/man1/regraph-judge.1)

file(CREATE_LINK ../../../lib/regraph/share/regraph/examples ${root}/usr/share/doc/regraph/examples SYMBOLIC)
file(CREATE_LINK ../../../lib/regraph/share/regraph/README.md ${root}/usr/share/doc/regraph/README.md SYMBOLIC)
file(COPY_FILE ${CPACK_REGRAPH_SOURCE}/cmake/debian/copyright ${root}/usr/share/doc/regraph/copyright)
file(COPY_FILE ${CPACK_REGRAPH_SOURCE}/CHANGELOG.md ${root}/usr/share/doc/regraph/changelog)
file(GLOB pages ${root}/usr/share/man/man1/*.1)
# Without name and time, so that the same tree gives the same package.
execute_process(COMMAND gzip -9n ${pages} ${root}/usr/share/doc/regraph/changelog COMMAND_ERROR_IS_FATAL ANY)
