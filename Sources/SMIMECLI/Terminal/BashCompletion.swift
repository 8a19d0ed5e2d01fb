/// Additions to the parser's completion script for bash.
enum BashCompletion {
    /// `script` with the additions if it is the script for bash; other texts are returned unchanged.
    static func completed(_ script: String) -> String {
        script.hasPrefix("#!/bin/bash\n") ? script + "\n" + addresses : script
    }

    /// Bash splits words at the @ of an address, and treats the rest as a separate word.
    private static let addresses = #"""

        # Puts addresses together again, which bash parts at their @.
        _smime_with_addresses() {
            local -a words=()
            local -i index number=0
            local word rest="${COMP_LINE}"
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                if [[ ${#words[@]} -gt 0 && ${rest} != [[:space:]]* && ( ${word} == @* || ${words[-1]} == *@ ) ]]; then
                    words[-1]+="${word}"
                else
                    words+=("${word}")
                fi
                rest="${rest#"${rest%%[![:space:]]*}"}"
                rest="${rest#"${word}"}"
                [[ ${index} -ne ${COMP_CWORD} ]] || number=$((${#words[@]} - 1))
            done
            local -a COMP_WORDS=("${words[@]}")
            local -i COMP_CWORD=number
            word="${COMP_WORDS[COMP_CWORD]}"
            _smime "${1}" "${word}" "${COMP_WORDS[COMP_CWORD - 1]}"
            # No name of a file, in which bash would put a backslash in front of the @.
            [[ "${COMPREPLY[*]}" != *@* ]] || compopt +o filenames 2>/dev/null
            # Only what begins with the @ is replaced.
            [[ ${word} != *@* || ${#COMPREPLY[@]} -eq 0 ]] || COMPREPLY=("${COMPREPLY[@]/#*@/@}")
        }

        complete -o filenames -F _smime_with_addresses smime
        """#
}
