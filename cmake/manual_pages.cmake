# Manual pages and shell completions, from what the programs say of themselves.
#   cmake -DPROGRAM=bin/regraph -DNAMES="search;score" -DVERSION=0.1.0 -DSHARE=PREFIX/share -P cmake/manual_pages.cmake
function(ask OUTPUT)
  execute_process(COMMAND ${PROGRAM} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  set(${OUTPUT} "${text}" PARENT_SCOPE)
endfunction()

foreach(name ${NAMES})
  if(name STREQUAL "search")
    ask(page search --man)
  else()
    # The help, as it is. Backslashes and dots at the start of a line mean something to troff.
    ask(help ${name} --help)
    string(REGEX MATCH "[^\n]+" summary "${help}")
    string(REGEX REPLACE "\\.$" "" summary "${summary}")
    foreach(text help summary)
      string(REPLACE "\\" "\\e" ${text} "${${text}}")
      string(REPLACE "-" "\\-" ${text} "${${text}}")
      string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" ${text} "${${text}}")
    endforeach()
    string(TOUPPER "regraph-${name}" title)
    set(page ".TH ${title} 1 \"\" \"ReGraph ${VERSION}\"\n.SH NAME\nregraph\\-${name} \\- ${summary}\n.SH DESCRIPTION\n.nf\n${help}.fi\n")
  endif()
  file(WRITE "${SHARE}/man/man1/regraph-${name}.1" "${page}")
endforeach()

foreach(place bash:bash-completion/completions/regraph-search zsh:zsh/site-functions/_regraph-search
    fish:fish/vendor_completions.d/regraph-search.fish)
  string(REGEX MATCH "^[^:]+" shell ${place})
  string(REGEX REPLACE "^[^:]+:" "" path ${place})
  ask(script search --completion ${shell})
  file(WRITE "${SHARE}/${path}" "${script}")
endforeach()
