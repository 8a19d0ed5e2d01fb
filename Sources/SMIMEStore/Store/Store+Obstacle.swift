extension Store {
    /// Why the store cannot be used for handling mail.
    package enum Obstacle: Equatable, Sendable {
        /// The database cannot be read.
        case database(KeystoreError)
        /// No private key can be opened. Operations without a private key are still possible.
        case key(KeystoreError)
    }

    /// Queries the database and opens the store key, to find failures before mail arrives.
    ///
    /// - Returns: nil if both succeed.
    package func obstacle() async -> Obstacle? {
        for _ in 0..<Protectors.changesSeen {
            do throws(KeystoreError) {
                try database.checkForm()
                let protectors = try await database.read { try Protectors(in: $0) }
                do throws(KeystoreError) { _ = try await unlocker.key(for: protectors) } catch {
                    // Another process may have replaced the store key meanwhile.
                    guard try await isChanged(protectors) else { return .key(error) }
                    continue
                }
                return nil
            } catch { return .database(error) }
        }
        return .database(.busy(path: location.path))
    }
}
