import ByteStreams
public import Foundation
public import InternetMessage
public import LibCrypto
public import PKIX
public import SMIME
public import SMIMEStore

extension Store {
    /// Opens the store in `folder`, the folder that `smime --home` names.
    ///
    /// - Parameters:
    ///   - folder: the store's folder.
    ///   - mode: whether the store can be changed, and whether a missing store is created.
    ///   - passphrase: the source of the passphrase of a locked store; asked when the first private key is needed.
    /// - Throws: `.storeUnusable`, `.storeBusy`; with `.readWrite` also `.storeReadOnly`, `.file`
    public static func open(
        _ folder: String,
        mode: Mode = .readWrite,
        passphrase: (@Sendable () throws -> Passphrase)? = nil
    ) async throws(SMIMEError) -> Store {
        try await SMIMEError.inBackground {
            guard let passphrase else { return try await open(StoreLocation(home: folder), mode: mode) }
            return try await open(StoreLocation(home: folder), mode: mode) { attempt in
                guard attempt == 0 else { return nil }
                return try passphrase()
            }
        }
    }

    /// Waits for the reads and writes in progress and closes the database. Later calls fail.
    ///
    /// - Throws: `.file`
    public func finish() async throws(SMIMEError) { try await SMIMEError.inBackground { try await close() } }

    /// Stores the keys, certificates and revocation lists in bytes of PKCS#12, PEM, DER or PKCS#7 in one transaction,
    /// as `smime import` does. Items that are already in the store do not change, except that `trusting` also applies
    /// to them.
    ///
    /// - Parameters:
    ///   - bytes: the content of a file.
    ///   - passphrase: the passphrase of PKCS#12 and of encrypted keys.
    ///   - account: the account that receives the identities; if nil, the accounts of the addresses that their certificates
    ///     name.
    ///   - trusting: whether authorities become trust anchors, and other certificates are pinned.
    ///   - time: the time that the store records as the time of the import.
    /// - Throws: `.wrongPassphrase`, `.malformed`, `.noKeyPair`, `.unconfirmedKey`, `.limitExceeded`, `.addressTaken`,
    ///   `.storeReadOnly`, `.storeUnusable`, `.storeBusy`, `.file`
    public func add(
        _ bytes: some Sequence<UInt8>,
        passphrase: String? = nil,
        for account: EmailAddress? = nil,
        trusting: Bool = false,
        at time: Date = .now
    ) async throws(SMIMEError) -> ImportReport {
        let source = MemorySource(Array(bytes))
        return try await SMIMEError.inBackground {
            let files = try ImportedFiles(["input"], passphrases: GivenPassphrase(text: passphrase)) { _ in source }
            var plan = ImportPlan(account: account, trust: trusting, now: time)
            try plan.add(files, renewals: try await renewals(among: files.certificates, for: account))
            // `learn` adds the certificates in mail, after the mail was opened.
            guard !plan.batch.isEmpty else { throw AgentError.nothingToImport(plan.problems.last) }
            if account == nil, !trusting { try await confirm(plan.batch, systemAnchors: true, at: time) }
            return try await add(plan.batch, at: time)
        }
    }

    /// Stores the keys, certificates and revocation lists in files, as `smime import` does. Keys and certificates in separate
    /// files are paired, and the authors' certificates are learned from mail among the files.
    ///
    /// - Throws: the errors of `add` for bytes
    public func add(
        contentsOf files: String...,
        passphrase: String? = nil,
        for account: EmailAddress? = nil,
        trusting: Bool = false,
        at time: Date = .now
    ) async throws(SMIMEError) -> ImportReport {
        try await SMIMEError.inBackground {
            let contents = try ImportedFiles(files, passphrases: GivenPassphrase(text: passphrase)) {
                try Input.open(path: $0, mayBeSecret: true, limit: KeyMaterial.limit)
            }
            let outcome = try await FileImport(for: account, trusting: trusting, at: time)
                .run(contents, into: self, or: { self })
            if let failure = outcome.failure { throw failure }
            return outcome.report
        }
    }

    /// All accounts, by address.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func allAccounts() async throws(SMIMEError) -> [Account] {
        try await SMIMEError.inBackground { try await accounts.all() }
    }

    /// All certificates of recipients, by address.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func allRecipients() async throws(SMIMEError) -> [KnownRecipient] {
        try await SMIMEError.inBackground { try await recipients.all() }
    }

    /// The certificate that mail to `address` would be encrypted to; nil if there is none that may be used, or if a
    /// source or a revocation service that could decide this did not answer.
    ///
    /// - Throws: `.unusableSetting`, `.storeUnusable`, `.storeBusy`
    public func recipient(_ address: EmailAddress, at time: Date = .now) async throws(SMIMEError) -> Certificate? {
        try await SMIMEError.inBackground {
            let asked = OnlineRevocation(StoreOpening(self), isDemanded: false)
            let lookup = try await lookup(systemAnchors: true, lists: FolderLists { _ in }, revocation: asked)
            let answer = try await lookup.choices(for: [AddressScope(address)], at: time)
            _ = await asked.keep()
            return answer.choices.first?.selected?.certificate
        }
    }

    /// All rules of the store.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func allRules() async throws(SMIMEError) -> [Policy.Rule] {
        try await SMIMEError.inBackground { try await policy.rules() }
    }

    /// The trust anchors of the store, without the system's trust anchors.
    ///
    /// - Throws: `.storeUnusable`, `.storeBusy`
    public func allAnchors() async throws(SMIMEError) -> [Certificate] {
        try await SMIMEError.inBackground { try await anchors.all().map(\.certificate) }
    }
}

/// The one passphrase that the caller gave, if any.
private struct GivenPassphrase: ImportPassphrases {
    let text: String?

    var isGiven: Bool { text != nil }

    func passphrase(for path: String) throws -> Passphrase {
        guard let text else { throw CMSError.wrongPassphrase }
        return Passphrase(text.utf8)
    }

    func noteWrongPassphrase(for path: String) {}
}
