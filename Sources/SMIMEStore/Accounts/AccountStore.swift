package import Foundation
package import InternetMessage
package import PKIX

/// The accounts, and their private keys for signing and decrypting.
package struct AccountStore: Sendable {
    let database: StoreDatabase
    private let location: StoreLocation
    private let unlocker: StoreUnlocker

    init(database: StoreDatabase, location: StoreLocation, unlocker: StoreUnlocker) {
        self.database = database
        self.location = location
        self.unlocker = unlocker
    }

    /// All accounts, in the order of their addresses.
    package func all() async throws(KeystoreError) -> [Account] {
        try await database.read { database in
            try database.values("SELECT id FROM account ORDER BY address_key", as: Int64.self).map {
                try AccountRecord.account($0, in: database)
            }
        }
    }

    /// The account that sends mail from `address`.
    ///
    /// - Throws: `.unknownAccount`
    package func account(for address: EmailAddress) async throws(KeystoreError) -> Account {
        try await database.read { try Self.account(for: address, in: $0) }
    }

    /// The account that sends mail from `address`; nil if there is no such account, or if `address` is nil.
    package func account(ifAnyFor address: EmailAddress?) async throws(KeystoreError) -> Account? {
        guard let address else { return nil }
        do throws(KeystoreError) { return try await account(for: address) } catch .unknownAccount { return nil }
    }

    /// The account that sends mail from `address`, without its identities; nil if there is no such account, or if `address`
    /// is nil.
    package func summary(of address: EmailAddress?) async throws(KeystoreError) -> AccountSummary? {
        guard let address else { return nil }
        return try await database.read { try AccountRecord.summary(sendingAs: address, in: $0) }
    }

    /// Whether a user assigned `certificate` to an account. The addresses in the certificate do not matter.
    package func isAssigned(_ certificate: Certificate) async throws(KeystoreError) -> Bool {
        try await database.read { database in
            try database.value(
                """
                SELECT EXISTS (SELECT 1 FROM identity JOIN certificate ON id = certificate
                    WHERE fingerprint = ? AND assigned)
                """,
                [certificate.fingerprint.bytes],
                as: Bool.self
            ) ?? false
        }
    }

    /// The identity of the account of `address` that `IdentitySelection.judge` makes current for `purpose` at `time`.
    ///
    /// - Parameter options: whether revocation is checked, and revocation lists in addition to those of the store.
    /// - Throws: `.unknownAccount`, `.noUsableIdentity`, `.revokedIdentity`
    package func identity(
        for address: EmailAddress,
        purpose: IdentitySelection.Purpose,
        at time: Date,
        under options: ValidationOptions = ValidationOptions()
    ) async throws(KeystoreError) -> AccountIdentity {
        try await database.read { try Self.identity(for: address, purpose: purpose, at: time, under: options, in: $0) }
    }

    /// The identity, with its private key, with which the account of `address` signs mail by `author`. An identity whose
    /// certificate names the author is preferred; otherwise the account's current identity signs.
    ///
    /// - Parameters:
    ///   - author: the address in From; nil if it is unknown.
    ///   - options: whether revocation is checked, and revocation lists in addition to those of the store.
    /// - Throws: `.unknownAccount`, `.noUsableIdentity`, `.revokedIdentity`; `.unsupportedKey` if this libcrypto does not
    ///   support the private key; if the store key or the private key cannot be opened: `.keyMissing`, `.keyMismatch`,
    ///   `.locked`, `.wrongPassphrase`, `.permissions`, `.cannotOpen`, `.corrupt`.
    package func signingIdentity(
        for address: EmailAddress,
        author: EmailAddress? = nil,
        at time: Date,
        under options: ValidationOptions = ValidationOptions()
    ) async throws(KeystoreError) -> Identity {
        let keys = try await opened { database in
            let identity = try Self.identity(
                for: address,
                author: author,
                purpose: .signing,
                at: time,
                under: options,
                in: database
            )
            return [try SealedKeys(certificates: [identity.certificate], in: database)]
        }
        guard let identity = keys.first else { throw KeystoreError.unknownAccount(address) }
        return identity
    }

    /// The certificate with this fingerprint and its private key. Validity and usage are not checked.
    ///
    /// - Throws: `.unknownCertificate` if the store does not have the private key; what opening the store key throws.
    package func identity(_ fingerprint: Fingerprint) async throws(KeystoreError) -> Identity {
        let keys = try await opened { database in
            [try SealedKeys(where: "fingerprint = ?", [fingerprint.bytes], in: database)]
        }
        guard let identity = keys.first else { throw KeystoreError.unknownCertificate(fingerprint) }
        return identity
    }

    /// Opens a sealed private key that was read from a snapshot of the store.
    ///
    /// - Throws: what opening the store key throws; `.corrupt` if the sealed key was modified; `.unknownCertificate` if
    ///   the store key was replaced since the snapshot, and the store no longer has the private key.
    package func open(_ identity: SealedIdentity) async throws(KeystoreError) -> Identity {
        guard let certificate = identity.keys.certificates.first else {
            throw KeystoreError.unexpected("a sealed identity without a key")
        }
        do throws(KeystoreError) {
            let keys = try await identity.keys.open(unlocker, path: location.database, database.openedKeys)
            if let key = keys.first { return key }
        } catch {
            // The store key may have been replaced since the snapshot was taken.
            guard case .keyMismatch = error else { throw error }
        }
        return try await self.identity(certificate.fingerprint)
    }

    /// All identities of `address` with their private keys, current and old, for export.
    ///
    /// - Throws: `.unknownAccount`; `.unsupportedKey` if this libcrypto does not support a private key; what opening the
    ///   store key throws.
    package func identities(of address: EmailAddress) async throws(KeystoreError) -> [Identity] {
        try await opened { database in
            let account = try Self.account(for: address, in: database)
            return [try SealedKeys(certificates: account.identities.map(\.certificate), in: database)]
        }
    }

    /// The store's certificates with private keys, old ones included, that `recipients` name, in the order of `recipients`.
    ///
    /// Several certificates may share a key identifier; the result then has all of them, each once. No private key is
    /// opened.
    package func certificates(matching recipients: [EntityIdentifier]) async throws(KeystoreError) -> [Certificate] {
        try await database.read { database in
            var (named, seen): (Set<EntityIdentifier>, Set<Fingerprint>) = ([], [])
            return try recipients.filter { named.insert($0).inserted }
                .flatMap { try SealedKeys(matching: $0, in: database).certificates }
                .filter { seen.insert($0.fingerprint).inserted }
        }
    }

    /// The first identity that `recipients` name and whose algorithm this libcrypto supports, old identities included; nil if
    /// `recipients` name no identity of an account. No other private key is opened, however many RecipientInfos a message has.
    ///
    /// - Throws: what opening the store key throws; `.unsupportedKey` if this libcrypto supports none of the matching
    ///   private keys.
    package func decryptionKey(
        matching recipients: [EntityIdentifier]
    ) async throws(KeystoreError) -> Identity? {
        try await opened { database in
            var named: Set<EntityIdentifier> = []
            var unusable: SealedKeys?
            for recipient in recipients where named.insert(recipient).inserted {
                let keys = try SealedKeys(matching: recipient, in: database)
                if let usable = keys.first(where: \.publicKeyAlgorithm.isOffered) { return [usable] }
                unusable = unusable ?? keys.first { _ in true }
            }
            return [unusable].compactMap(\.self)
        }.first
    }

    /// Reads sealed keys and opens them. Tries again if the store key was replaced in between.
    private func opened(
        _ body: @escaping @Sendable (SQLDatabase) throws -> [SealedKeys]
    ) async throws(KeystoreError) -> [Identity] {
        var seen: Protectors?
        for _ in 0..<Protectors.changesSeen {
            let sealed = try await database.read(body)
            var keys: [Identity] = []
            do throws(KeystoreError) {
                for item in sealed {
                    keys += try await item.open(unlocker, path: location.database, database.openedKeys)
                }
                return keys
            } catch {
                guard case .keyMismatch = error, let protectors = sealed.first?.protectors, protectors != seen else {
                    throw error
                }
                seen = protectors
            }
        }
        throw KeystoreError.busy(path: location.path)
    }

    private static func account(for address: EmailAddress, in database: SQLDatabase) throws -> Account {
        guard let id = try AccountRecord.id(sendingAs: address, in: database) else {
            throw KeystoreError.unknownAccount(address)
        }
        return try AccountRecord.account(id, in: database)
    }

    private static func identity(
        for address: EmailAddress,
        author: EmailAddress? = nil,
        purpose: IdentitySelection.Purpose,
        at time: Date,
        under options: ValidationOptions,
        in database: SQLDatabase
    ) throws -> AccountIdentity {
        let identities = try account(for: address, in: database).identities
        // Only currently valid identities are judged, because checking long revocation lists takes time.
        let certificates = identities.map(\.certificate).filter { $0.isValid(at: time) }
        let verdicts = try CertificateVerdicts(on: [certificates], at: time, under: options, in: database)
        if let author,
            let signer = IdentitySelection.signer(
                naming: author,
                orCurrentOf: address,
                of: identities,
                at: time,
                verdicts: verdicts
            )
        {
            return signer
        }
        let states = IdentitySelection.judge(
            identities,
            for: address,
            purpose: purpose,
            at: time,
            verdicts: verdicts
        )
        if let current = zip(identities, states).first(where: { $1 == .current }) { return current.0 }
        if let refused = zip(identities, states).first(where: { $1 == .revoked }) {
            throw KeystoreError.revokedIdentity(address, refused.0.certificate.fingerprint)
        }
        let counts = Dictionary(states.map { ($0, 1) }, uniquingKeysWith: +)
        let why = counts.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($1) \($0.words)" }
        throw KeystoreError.noUsableIdentity(
            address,
            why: why.isEmpty ? "the account has no identity" : "for \(purpose.rawValue): " + why.joined(separator: ", ")
        )
    }
}
