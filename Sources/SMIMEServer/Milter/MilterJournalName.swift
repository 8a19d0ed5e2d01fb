/// The names in the journal of messages that came through a milter.
package enum MilterJournalName {
    /// What stands between the name of the mail server and the digest.
    private static let mark = "/milter "

    /// - Parameters:
    ///   - server: the name of the mail server.
    ///   - digest: the digest of the envelope, in hexadecimal.
    static func name(server: String, digest: String) -> String { "\(server)\(mark)\(digest)" }

    /// The number of seconds for which the journal's record of a message from a milter is valid; nil for a name that is not
    /// from a milter.
    ///
    /// Another message may have the same name. If the service stopped between the verdict and the removal of the record, an
    /// unlimited record would prevent sending the copies of the other message. Mail servers try again within this time
    /// (Postfix's `maximal_backoff_time` is 4,000 s).
    package static func memory(of name: String) -> Double? { name.contains(mark) ? 4_200 : nil }
}
