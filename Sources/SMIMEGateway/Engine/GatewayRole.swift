/// The direction of mail.
package enum GatewayRole: String, CaseIterable, Sendable {
    /// From accounts of the store to others: mail is signed and encrypted according to the policy.
    case outgoing
    /// From others to accounts of the store: mail is verified, and decrypted if a rule says so.
    case incoming
}
