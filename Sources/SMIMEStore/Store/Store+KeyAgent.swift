package import LibCrypto

extension Store {
    /// The name of the agent's socket for the current store key; nil if no passphrase protects the store.
    package func nameForAgent() async throws(KeystoreError) -> String? {
        guard let wrapped = try await database.read({ try Protectors(in: $0) }).passphrase else { return nil }
        do { return try KeyAgentClient.name(of: wrapped) } catch { throw KeystoreError(error, path: location.database) }
    }

    /// The store key for an agent, and the name of the agent's socket; nil if no passphrase protects the store.
    ///
    /// - Throws: what opening the store key throws.
    package func keyForAgent() async throws(KeystoreError) -> (name: String, key: SecretBytes)? {
        let protectors = try await database.read { try Protectors(in: $0) }
        guard let wrapped = protectors.passphrase else { return nil }
        let key = try await unlocker.key(for: protectors)
        do {
            let name = try KeyAgentClient.name(of: wrapped)
            return (name, key.withBytes { bytes in SecretBytes(copying: bytes) })
        } catch { throw KeystoreError(error, path: location.database) }
    }
}
