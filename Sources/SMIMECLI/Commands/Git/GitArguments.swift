/// The arguments with which git calls the program that `gpg.x509.program` names.
///
/// git writes `--status-fd=2 -bsau KEY` to sign and `--status-fd=1 --verify SIGNATURE -` to verify; other programs write the
/// long names. Other arguments are rejected.
///
/// git: gpg-interface.c; gpgsm(1)
struct GitArguments: Equatable {
    /// What git asks for.
    enum Task: Equatable {
        /// Sign standard input with the key of this name.
        case sign(key: String)
        /// Verify the signature in this file over standard input.
        case verify(signature: String)
    }

    let task: Task
    /// The file descriptor for status lines; if nil, no status lines are written.
    private(set) var statusDescriptor: Int32?

    /// Options for behaviour that this command always has; they are ignored.
    private static let implied: Set<String> = [
        "--armor", "--batch", "--detach-sign", "--no-tty", "--sign", "-a", "-b", "-bsa", "-s",
    ]

    /// Reads the arguments. Call this before anything is opened.
    ///
    /// - Throws: `Failure` with status 64, also if the descriptor for status lines is not open.
    init(_ words: [String]) throws {
        var rest = words[...]
        var (key, signature): (String?, String?)
        func value(of word: String) throws -> String {
            if let sign = word.firstIndex(of: "="), word.hasPrefix("--") {
                return String(word[word.index(after: sign)...])
            }
            guard let next = rest.popFirst(), !next.isEmpty else { throw Failure(.usage, "'\(word)' needs a value") }
            return next
        }
        while let word = rest.popFirst() {
            switch word.prefix(while: { $0 != "=" }) {
            case "--status-fd":
                guard let number = Int32(try value(of: word)), number > 0 else {
                    throw Failure(.usage, "--status-fd takes the number of a descriptor")
                }
                guard CallerDescriptor.claim(number), CallerDescriptor.isWritable(number) else {
                    throw Failure(.usage, "--status-fd \(number): not open for writing")
                }
                statusDescriptor = number
            case "-bsau", "-u", "--local-user": key = try value(of: word)
            case "--verify": signature = try value(of: word)
            case "--keyid-format": _ = try value(of: word)
            case "-": break
            default:
                guard Self.implied.contains(word) else {
                    throw Failure(.usage, "'\(word)': not an option that git passes", hints: ["see smime git --help"])
                }
            }
        }
        switch (key, signature) {
        case (let key?, nil): task = .sign(key: key)
        case (nil, let signature?): task = .verify(signature: signature)
        default: throw Failure(.usage, "say what to do: -bsau KEY to sign, --verify FILE - to verify")
        }
    }
}
