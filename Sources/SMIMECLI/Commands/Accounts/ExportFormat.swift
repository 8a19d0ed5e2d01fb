import ArgumentParser

/// What `export` writes.
enum ExportFormat: String, Choice {
    case p12, mobileconfig, pem, ldif, vcard, smimea

    /// Whether private keys are in it.
    var isSecret: Bool { self == .p12 || self == .mobileconfig }

    /// Whether one file can hold several people.
    var isForDirectories: Bool { self == .ldif || self == .smimea }
}
