import InternetMessage
import SMIMEAgent
import SMIMEStore

extension Failure {
    /// The failure with a hint for each unknown account or recipient: the known address that the user probably meant, if one
    /// is close enough.
    ///
    /// The addresses are read from the store only after the failure. `filter` and `serve` add no hint: the logs of a mail
    /// server must not get the addresses of the store.
    func suggestingAddresses() async -> Failure {
        let invocation = Invocation.current
        guard !isReported, !invocation.isFilter, !Invocation.isService(invocation.words[...]), let unknown,
            let store = try? await invocation.globalOptions?.store(.readOnly, asks: false),
            let known = try? await unknown.addresses(in: store)
        else { return self }
        let meant = unknown.addresses.compactMap { address in
            Suggestion.closestAddress(to: address, among: known).map {
                "did you mean \($0)\(unknown.addresses.count == 1 ? "" : " instead of \(address)")?"
            }
        }
        var failure = Failure(status, message, hints: meant + hints)
        failure.cause = cause
        return failure
    }

    /// The addresses that caused the failure because the store does not know them; nil if something else caused it.
    private var unknown: UnknownAddresses? {
        guard let cause else { return nil }
        switch cause {
        case KeystoreError.unknownAccount(let address),
            AgentError.unusableSigner(.unknownAccount(let address), fitting: _):
            return UnknownAddresses(addresses: [address.text], areAccounts: true)
        case KeystoreError.unknownRecipient(let address):
            return UnknownAddresses(addresses: [address.text], areRecipients: true)
        case AgentError.noUsableCertificate(let choices, isOutage: _):
            let missing = choices.filter { $0.candidates.isEmpty && !$0.isUnknown }.map(\.address.text)
            // Mail can be encrypted to the user's own accounts, too.
            return UnknownAddresses(addresses: missing, areAccounts: true, areRecipients: true)
        default: return nil
        }
    }
}

/// Addresses that the store does not know.
private struct UnknownAddresses {
    let addresses: [String]
    /// Whether the addresses could be those of accounts.
    var areAccounts = false
    /// Whether the addresses could be those of recipients.
    var areRecipients = false

    /// The addresses in `store` that the unknown addresses could be.
    func addresses(in store: Store) async throws -> [String] {
        var known: [String] = []
        if areAccounts { known += try await store.accounts.all().flatMap { [$0.address.text] + $0.aliases } }
        if areRecipients { known += try await store.recipients.addresses().map(\.text) }
        return known
    }
}
