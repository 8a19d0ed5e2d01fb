import ByteStreams
import CMSSyntax
import Dispatch
import Foundation
import PKIX
import SMIME

/// The people in `certs/` whose keys open the seeds.
enum People {
    static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "certs")

    static let all: [Identity] = ["alice", "carol"].flatMap { name in
        let certificates = read("\(name)/cert.pem").compactMap { item -> Certificate? in
            if case .certificate(let certificate) = item { certificate } else { nil }
        }
        return read("\(name)/key.pem").compactMap { item -> Identity? in
            guard case .privateKey(let encoded) = item, let key = try? encoded.decode(passphrase: nil),
                let certificate = certificates.first
            else { return nil }
            return try? Identity(certificate: certificate, key: key)
        }
    }

    static let anchors = read("ca/root.pem").compactMap { item -> Certificate? in
        if case .certificate(let certificate) = item { certificate } else { nil }
    }

    private static func read(_ name: String) -> [KeyMaterial] {
        guard let data = try? Data(contentsOf: folder.appending(path: name)) else { return [] }
        return (try? KeyMaterial.read(Array(data))) ?? []
    }
}

/// Keys and anchors in memory.
private struct Keyring: KeyProvider {
    func identity(for recipients: [EntityIdentifier]) -> Identity? {
        recipients.lazy.compactMap { recipient in People.all.first { recipient.matches($0.certificate) } }.first
    }

    func certificates(for signers: [EntityIdentifier]) -> [Certificate] { [] }

    func trust(for certificates: [Certificate]) -> TrustStore { TrustStore(anchors: People.anchors) }
}

extension Target {
    /// The complete processing of a message: verification, decryption, inspection, and writing its content.
    static let message = Target(name: "message") { bytes in
        wait {
            let opener = MessageOpener(Keyring(), at: Date(timeIntervalSince1970: 1_793_491_200))
            let source = MemorySource(bytes)
            if let verified = try? await opener.verify(source) {
                let report = verified.report
                require(report.status != .valid || report.coverage == .whole, "a valid message is signed as a whole")
                require(report.status != .valid || !report.signers.isEmpty, "a valid message has a signer")
                _ = try? verified.writeContent(to: CountingSink())
            }
            if let opened = try? await opener.decrypt(source) { try? opened.write(to: CountingSink()) }
        }
    }

    /// Runs asynchronous work and waits for its end, because libFuzzer's callback is synchronous.
    private static func wait(_ body: @escaping @Sendable () async -> Void) {
        let done = DispatchSemaphore(value: 0)
        Task.detached {
            await body()
            done.signal()
        }
        done.wait()
    }
}
