import ByteStreams
public import Foundation
public import LibCrypto
public import SMIME
public import SMIMEStore

extension Store {
    /// Searches the store for damage, for files that other users can read, and for unused data; removes the data that
    /// `cleaning` allows (`smime store check`).
    ///
    /// - Parameters:
    ///   - folder: the store, as `open` takes it.
    ///   - cleaning: the data that may be removed.
    ///   - passphrase: the source of the passphrase of a locked store; if nil, its private keys are not checked.
    ///   - time: the time at which a certificate is considered expired or not.
    /// - Throws: `.storeUnusable` for a store that is missing or cannot even be searched, `.wrongPassphrase`,
    ///   `.storeBusy`, `.file`; with `.unused` also `.storeReadOnly`
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
                openForReading: {
                    let store = try await open(folder, mode: .readOnly, passphrase: passphrase)
                    guard store.exists else { throw KeystoreError.missing(path: store.location.path) }
                    return store
                },
                openForWriting: { try await open(StoreLocation(home: folder), mode: .readWrite) }
            )
        }
    }

    /// Copies the database into a file, which appears complete or not at all. Other programs can use the store meanwhile
    /// (`smime store backup`).
    ///
    /// The copy does not include the key file. Keep the key file as well, unless a passphrase opens the store.
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

    /// Replaces the store in `folder` with a copy that `backUp` made, while other programs may use the store (`smime
    /// store restore`).
    ///
    /// - Throws: `.malformed` for a file that is not a copy of a store, is damaged, or is the store itself; `.file`,
    ///   `.storeUnusable`, `.storeBusy`
    public static func restore(_ folder: String, from file: String) async throws(SMIMEError) -> StoreRestored {
        try await SMIMEError.inBackground { try await restore(StoreLocation(home: folder), copy: file) }
    }

    /// Restores the store at `location`, with an error that says what `file` is if it is not a copy of a store.
    ///
    /// - Throws: `AgentError.notRestorable`; the errors of opening the file and of `restore(_:from:)`
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
