# Puts the page together: common/page's form, style and scripts, the module and page.js. It holds no
# data, for it computes all.
set(title "One head, many, infinitely many: the library itself computes as you turn")
set(about
    "A layer of attention is to find a function of s from eight targets. Drag a target, or move it by the arrow keys; turn \
the number of heads; let networks learn as particles that repel each other. Nothing was computed before: Ladon, a C++ \
library, runs in this page as WebAssembly, and gives every band, particle and random network when you ask for it.")
set(data "{}")
file(READ ${PAGE}/page.css style)
foreach(name SHARED SCRIPTS)
  string(TOLOWER ${name} part)
  set(${part} "")
  foreach(file IN LISTS ${name})
    file(READ ${file} text)
    string(APPEND ${part} "${text}")
  endforeach()
endforeach()
execute_process(COMMAND ${NODE} -p "require('zlib').gzipSync(require('fs').readFileSync('${MODULE}'), {level: 9}).toString('base64')"
                OUTPUT_VARIABLE packed OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
set(script "const packedModule = '${packed}';\n${scripts}")
file(READ ${PAGE}/page.html form)
foreach(part title style about data shared script)
  string(REPLACE "$${part}$" "${${part}}" form "${form}")
endforeach()
file(WRITE ${MADE} "${form}")
