/// Whether mail leaves us or comes to us.
package enum GatewayRole: String, CaseIterable, Sendable {
    /// From our accounts to others: signed and encrypted as the policy says.
    case outgoing
    /// From others to our accounts: verified, and decrypted where a rule says so.
    case incoming
}
