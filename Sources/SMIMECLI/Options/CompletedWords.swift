import ArgumentParser

/// The kinds of words, from the store and from reports, that shells complete.
enum CompletedWords: String, Choice {
    case accounts, codes, recipients

    /// The command with which a shell requests the words.
    var completion: CompletionKind { .shellCommand("smime complete \(rawValue) 2>/dev/null") }
}
