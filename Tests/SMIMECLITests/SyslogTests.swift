import Foundation
import TestSupport
import Testing

/// The filter's messages to syslog, which by default gets a line about each mail.
@Suite struct SyslogTests {
    /// Gives a command its own /dev, with a socket that no other program uses.
    private static let device = """
        mount -t tmpfs tmpfs /dev && mknod -m 666 /dev/null c 1 3 && mknod -m 666 /dev/urandom c 1 9 \
        && ln -s "$1" /dev/log && shift && exec "$@"
        """

    @Test func `a command of another user writes nothing else to syslog`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let socket = try DatagramSocket(path: folder.appending(path: "log").path)
        // The folder and the socket belong to the user "nobody", who runs the command.
        chmod(socket.path, 0o666)
        chown(folder.path, 65_534, 65_534)
        var shell = CommandRunner("unshare")
        shell.environment["SMIME_HOME"] = folder.appending(path: "home").path
        let command = try ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", Tool.smime().path]
        let inside = ["--mount", "sh", "-c", Self.device, "sh", socket.path] + command
        guard try shell.run(inside + ["--version"]).status == 0 else {
            print("note: skipped, nothing can be mounted here, or nobody cannot run smime")
            return
        }
        let rule = ["policy", "set", "--recipient", "bob@example.com", "--encrypt", "never"]
        #expect(try shell.run(inside + rule).status == 0)
        #expect(socket.receive() == nil)
    }

    @Test func `the filter writes its line to syslog`() throws {
        let temporary = try TemporaryFolder()
        let folder = temporary.url
        let socket = try DatagramSocket(path: folder.appending(path: "log").path)
        var shell = CommandRunner("unshare")
        shell.environment["SMIME_HOME"] = folder.appending(path: "home").path
        let inside = ["--mount", "sh", "-c", Self.device, "sh", socket.path]
        guard try shell.run(inside + ["true"]).status == 0 else {
            print("note: skipped, nothing can be mounted here")
            return
        }
        let rule = ["policy", "set", "--recipient", "bob@example.com", "--encrypt", "never"]
        #expect(try shell.run(inside + [Tool.smime().path] + rule).status == 0)
        let filter = [
            "filter", "outgoing", "--stdout", "--queue-id", "4ABC", "--sender", "zoë@example.com", "--",
            "bob@example.com",
        ]
        let mail = "From: zo@example.com\r\nTo: bob@example.com\r\nSubject: s\r\n\r\nhello\r\n"
        let result = try shell.run(inside + [Tool.smime().path] + filter, input: .bytes(Array(mail.utf8)))
        #expect(result.status == 0, "\(result.errorText)")
        let line = try #require(socket.receive())
        #expect(line.contains(" smime["), "\(line)")
        #expect(line.contains("]: direction=outgoing queue_id=4ABC sender=zoë@example.com recipients=1 "), "\(line)")
    }
}

/// A datagram socket in the file system.
private final class DatagramSocket {
    let path: String
    private let descriptor: Int32

    init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        try #require(bytes.count < MemoryLayout.size(ofValue: address.sun_path))
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(bound == 0)
    }

    deinit { close(descriptor) }

    /// The received text; nil if there is none.
    func receive() -> String? {
        var buffer = [UInt8](repeating: 0, count: 8192)
        let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
        return count > 0 ? String(decoding: buffer.prefix(count), as: UTF8.self) : nil
    }
}
