import ByteStreams
public import Foundation
public import LibCrypto
public import SMIME
public import SMIMEStore

extension Store {
    /// Looks for damage, for files that are open to others, and for what nothing uses; removes what `cleaning` allows
    /// (`smime store check`).
    ///
    /// - Parameters:
    ///   - folder: the store, as `open` takes it.
    ///   - cleaning: what may be removed.
    ///   - passphrase: where the passphrase of a locked store comes from; without one its private keys are not opened.
    ///   - time: the time at which certificates count as ended.
    /// - Throws: `.storeUnusable` for a store that is missing or cannot even be searched, `.wrongPassphrase`, `.storeBusy`, `.file`
    public static func check(
        _ folder: String,
        cleaning: StoreCheck.Cleaning = .nothing,
        passphrase: (@Sendable () throws -> Passphrase)? = nil,
        at time: Date = .now
    ) async throws(SMIMEError) -> StoreCheck {
        try await SMIMEError.inBackground {
            try await StoreCheck.run(
                of: StoreLocation(home: folder),
                cleaning: cleaning,
                at: time,
                reading: {
                    let store = try await open(folder, mode: .readOnly, passphrase: passphrase)
                    guard store.exists else { throw KeystoreError.missing(path: store.location.path) }
                    return store
                },
                writing: { try await open(StoreLocation(home: folder), mode: .readWrite) }
            )
        }
    }

    /// Copies the database into a file, which appears whole or not at all, while others use the store (`smime store backup`).
    ///
    /// The copy has no key file: that has to be kept, too, unless a passphrase opens the store.
    ///
    /// - Throws: `.file`, `.storeUnusable`, `.storeBusy`
    public func backUp(to file: String) async throws(SMIMEError) {
        try await SMIMEError.inBackground {
            let source = try await SpooledFile { try await backup(to: $0) }.rewound()
            let output = try OutputFile(path: file, isPrivate: true)
            try source.reader().copy(to: output)
            try output.commit()
        }
    }

    /// Puts a copy that `backUp` made in the place of the store in `folder`, while others may use the store (`smime store
    /// restore`).
    ///
    /// - Throws: `.malformed` for a file that is no copy of a store or is damaged, `.file`, `.storeUnusable`, `.storeBusy`
    public static func restore(_ folder: String, from file: String) async throws(SMIMEError) -> StoreRestored {
        try await SMIMEError.inBackground { try await restore(StoreLocation(home: folder), copy: file) }
    }

    /// The same, with an error that says what `file` is if it is not a copy of a store.
    ///
    /// - Throws: `AgentError.notRestorable`; what opening the file and `restore(_:from:)` throw
    package static func restore(_ location: StoreLocation, copy file: String) async throws -> StoreRestored {
        var status = stat()
        guard stat(file, &status) != 0 || status.st_mode & S_IFMT == S_IFREG else {
            throw AgentError.notRestorable(file: file, .notRegular)
        }
        let source = try Input.open(path: file)
        guard !FileIdentity.isSame(file, as: location.database) else {
            throw AgentError.notRestorable(file: file, .theStore)
        }
        let start = try source.bytes(in: 0..<min(source.count, 100))
        guard !Restoration.isBackup(start) else { throw AgentError.notRestorable(file: file, .accountBackup) }
        return try await restore(location, from: file)
    }
}
