/// Additions to the parser's completion scripts.
enum CompletionScript {
    /// `script` with the additions for its shell; other texts, and the script for fish, are returned unchanged.
    static func completed(_ script: String) -> String {
        if script.hasPrefix("#!/bin/bash\n") { return "\(script)\n\(bashWords)" }
        return script.hasPrefix("#compdef ") ? withEqualsSigns(script) : script
    }

    /// The script for zsh, in which the value of a long option may also follow an equals sign. `--from=[…]:addr:…` says so to
    /// `_arguments`.
    private static func withEqualsSigns(_ script: String) -> String {
        script.split(separator: "\n", omittingEmptySubsequences: false)
            .map { line in
                guard line.contains("]:"), let help = line.firstIndex(of: "[") else { return String(line) }
                // A name in parentheses is that of an option that excludes this one. It gets no equals sign.
                let names = line[..<help].replacing(/--[a-z-]+(?=[,}]|$)/) { "\($0.output)=" }
                return "\(names)\(line[help...])"
            }
            .joined(separator: "\n")
    }

    /// Bash splits words at the @ of an address and at the = after an option, and treats the rest as separate words.
    private static let bashWords = #"""

        # Puts addresses together again, which bash parts at their @, and parts options from their values without the =.
        _smime_with_addresses() {
            local -a words=()
            local -i index number=0
            local word joined="" rest="${COMP_LINE}"
            for index in "${!COMP_WORDS[@]}"; do
                word="${COMP_WORDS[index]}"
                if [[ ${#words[@]} -eq 0 || ${rest} == [[:space:]]* ]]; then
                    words+=("${word}")
                    joined=""
                elif [[ ${word} == "=" && ${words[-1]} == --* ]]; then
                    words+=("")
                    joined=1
                elif [[ ${joined} || ${word} == @* || ${words[-1]} == *@ ]]; then
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
            # As the name of a file, a word would get a backslash in front of its @.
            [[ "${COMPREPLY[*]}" != *@* ]] || compopt +o filenames 2>/dev/null
            # Only what begins with the @ is replaced.
            [[ ${word} != *@* || ${#COMPREPLY[@]} -eq 0 ]] || COMPREPLY=("${COMPREPLY[@]/#*@/@}")
        }

        complete -o filenames -F _smime_with_addresses smime
        """#
}
