/// What the parser's script for bash does not know.
enum BashCompletion {
    /// Completes `script` if it is that for bash; other texts stay as they are.
    static func completed(_ script: String) -> String {
        script.hasPrefix("#!/bin/bash\n") ? script + "\n" + addresses : script
    }

    /// Bash parts words at the @ of addresses, and takes what follows for a word of its own.
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
            [[ ${word} != *@* ]] || COMPREPLY=("${COMPREPLY[@]#*@}")
        }

        complete -o filenames -F _smime_with_addresses smime
        """#
}
