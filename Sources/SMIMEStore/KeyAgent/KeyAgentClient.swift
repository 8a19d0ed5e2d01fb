import Foundation
package import LibCrypto

/// Asks the agents in a runtime folder.
package struct KeyAgentClient: Equatable, Sendable {
    private static let prefix = "key-"

    package let folder: RuntimeFolder

    package init(_ folder: RuntimeFolder) { self.folder = folder }

    /// The name of the socket for a key that a passphrase seals as `wrapped`: whatever changes the passphrase or the key changes it,
    /// too.
    package static func name(of wrapped: [UInt8]) throws(OpenSSLError) -> String {
        let digest = try DigestAlgorithm.sha256.digest(wrapped).prefix(16)
        return prefix + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The key that is kept as `name`; nil if there is none.
    package func key(_ name: String, count: Int) -> SecretBytes? {
        guard let socket = request(.key, name) else { return nil }
        defer { close(socket) }
        var total = 0
        let key = SecretBytes(count: count) { buffer in
            while total < count, let start = buffer.baseAddress {
                let got = read(socket, start + total, count - total)
                guard got > 0 else { return }
                total += got
            }
        }
        return total == count ? key : nil
    }

    /// Makes all agents forget their keys, and end.
    ///
    /// - Returns: how many there were, and whether any of them may still have its key.
    package func forgetAll() -> (count: Int, isSure: Bool) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        var (count, isSure) = (0, true)
        for name in names where name.hasPrefix(Self.prefix) {
            switch forget(name) {
            case true: count += 1
            case false: isSure = false
            case nil: break
            }
        }
        return (count, isSure)
    }

    /// Makes the agent called `name` forget its key, and end.
    ///
    /// - Returns: whether it has; nil if there is none.
    @discardableResult
    package func forget(_ name: String) -> Bool? {
        guard let socket = request(.forget, name) else {
            let code = errno
            // Of one that ended without a word only the file is left.
            if code == ECONNREFUSED { unlink("\(folder.path)/\(name)") }
            return [ECONNREFUSED, ENOENT].contains(code) ? nil : false
        }
        defer { close(socket) }
        // It closes the connection when it is about to end.
        var byte: UInt8 = 0
        return read(socket, &byte, 1) == 0
    }

    /// A connection on which `request` was sent; nil, with errno, if there is no agent.
    private func request(_ request: KeptKey.Request, _ name: String) -> Int32? {
        guard let socket = AgentSocket.connected(name, in: folder) else { return nil }
        var byte = request.rawValue
        guard write(socket, &byte, 1) == 1 else {
            let code = errno
            close(socket)
            errno = code
            return nil
        }
        return socket
    }
}
