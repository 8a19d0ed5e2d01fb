package import LibCrypto

extension Store {
    /// The name under which an agent keeps the store key now; nil if no passphrase protects the store.
    package func nameForAgent() async throws(KeystoreError) -> String? {
        guard let wrapped = try await database.read({ try Protectors(in: $0) }).passphrase else { return nil }
        do { return try KeyAgentClient.name(of: wrapped) } catch { throw KeystoreError(error, path: location.database) }
    }

    /// The store key as an agent keeps it, and the name under which it is asked for; nil if no passphrase protects the store.
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
