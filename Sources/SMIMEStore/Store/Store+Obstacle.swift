extension Store {
    /// What stands in the way of handling mail.
    package enum Obstacle: Equatable, Sendable {
        /// Nothing can be looked up.
        case database(KeystoreError)
        /// No private key can be opened. What needs none can be done.
        case key(KeystoreError)
    }

    /// Asks the database, and opens the store key, before mail has to find out that one of them fails.
    ///
    /// - Returns: nil if nothing stands in the way.
    package func obstacle() async -> Obstacle? {
        for _ in 0..<Self.changesSeen {
            do throws(KeystoreError) {
                try database.checkForm()
                let protectors = try await database.read { try Protectors(in: $0) }
                do throws(KeystoreError) { _ = try await unlocker.key(for: protectors) } catch {
                    // Another process may have changed the store key meanwhile.
                    guard try await isChanged(protectors) else { return .key(error) }
                    continue
                }
                return nil
            } catch { return .database(error) }
        }
        return .database(.busy(path: location.path))
    }
}
