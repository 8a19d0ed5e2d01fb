import ArgumentParser

/// The words of the store, and of our reports, that shells complete.
enum CompletedWords: String, Choice {
    case accounts, codes, recipients

    /// How a shell asks for them.
    var completion: CompletionKind { .shellCommand("smime complete \(rawValue) 2>/dev/null") }
}
