import Foundation

/// Datagrams to unix sockets.
enum UnixDatagram {
    /// Sends `bytes` over the socket `descriptor` to the socket at `path`, which must be shorter than 108 bytes. Returns
    /// whether they were sent.
    ///
    /// unix(7): the name of an abstract socket begins with a zero byte, which is written as @ in `path`.
    static func send(_ bytes: [UInt8], over descriptor: Int32, to path: String) -> Bool {
        let path = Array(path.utf8)
        let isAbstract = path.first == UInt8(ascii: "@")
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { field in
            for (place, byte) in path.enumerated() where place < field.count - 1 {
                field[place] = place == 0 && isAbstract ? 0 : byte
            }
        }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count + (isAbstract ? 0 : 1))
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, length) >= 0
            }
        }
    }
}
