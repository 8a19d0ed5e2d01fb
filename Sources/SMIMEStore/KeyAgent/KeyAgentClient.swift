import ByteStreams
import Foundation
package import LibCrypto

/// Sends requests to the agents in the runtime directories of a user.
package struct KeyAgentClient: Equatable, Sendable {
    private static let prefix = "key-"

    /// The directory in which a new agent creates its socket.
    package let folder: RuntimeFolder
    /// Other directories that may have the socket of an agent that was started in another environment.
    private let others: [RuntimeFolder]
    private var folders: [RuntimeFolder] { [folder] + others }

    package init(_ folder: RuntimeFolder, others: [RuntimeFolder] = []) {
        self.folder = folder
        self.others = others.filter { $0 != folder }
    }

    /// The name of the socket for the store key that a passphrase seals as `wrapped`. A new passphrase or a new key changes
    /// the name.
    package static func name(of wrapped: [UInt8]) throws(OpenSSLError) -> String {
        let digest = try DigestAlgorithm.sha256.digest(wrapped).prefix(16)
        return prefix + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The key of the agent with the socket `name`; nil if no agent has it.
    package func key(_ name: String, count: Int) -> SecretBytes? {
        for folder in folders { if let key = key(name, count, in: folder) { return key } }
        return nil
    }

    private func key(_ name: String, _ count: Int, in folder: RuntimeFolder) -> SecretBytes? {
        guard let socket = request(.key, name, in: folder) else { return nil }
        defer { close(socket) }
        var total = 0
        let key = SecretBytes(count: count) { buffer in
            while total < count {
                var rest = buffer.piece(total..<count)
                let got = SystemCall.readBytes(socket, into: &rest)
                guard got > 0 else { return }
                total += got
            }
        }
        return total == count ? key : nil
    }

    /// Makes all agents wipe their keys, and end.
    ///
    /// - Returns: the number of agents, and whether all of them certainly wiped their keys.
    package func forgetAll() -> (count: Int, isSure: Bool) {
        var (count, isSure) = (0, true)
        for folder in folders {
            guard let names = folder.names() else {
                isSure = false
                continue
            }
            for name in names where name.hasPrefix(Self.prefix) {
                switch forget(name, in: folder) {
                case true: count += 1
                case false: isSure = false
                case nil: break
                }
            }
        }
        return (count, isSure)
    }

    /// Makes the agents with the socket `name` wipe their key, and end.
    ///
    /// - Returns: whether all of them did; nil if there is no agent.
    @discardableResult
    package func forget(_ name: String) -> Bool? {
        let answers = folders.compactMap { forget(name, in: $0) }
        return answers.isEmpty ? nil : answers.allSatisfy(\.self)
    }

    private func forget(_ name: String, in folder: RuntimeFolder) -> Bool? {
        guard let socket = request(.forget, name, in: folder) else {
            let code = errno
            // If an agent was killed, only the file of its socket is left.
            if code == ECONNREFUSED { folder.remove(name) }
            return [ECONNREFUSED, ENOENT].contains(code) ? nil : false
        }
        defer { close(socket) }
        // The agent closes the connection before it ends.
        var byte: UInt8 = 0
        return read(socket, &byte, 1) == 0
    }

    /// A connection over which `request` was sent; nil, with errno, if there is no agent.
    private func request(_ request: KeptKey.Request, _ name: String, in folder: RuntimeFolder) -> Int32? {
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
