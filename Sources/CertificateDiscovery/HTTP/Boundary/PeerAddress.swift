import Foundation

/// A socket address that a host name resolves to.
struct PeerAddress: Sendable {
    /// The bytes of a `sockaddr_in` or `sockaddr_in6`.
    let bytes: [UInt8]
    let family: CInt

    /// The maximum number of addresses that are tried for a name.
    private static let maximumCount = 4

    /// Resolves `host` with the system's resolver, and returns at most four addresses. Blocks the thread.
    ///
    /// - Throws: `.notReached` if the name cannot be resolved; `.hostFailure` for lack of memory or another system error.
    static func all(of host: String, port: UInt16) throws(RevocationError) -> [PeerAddress] {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        #if canImport(Glibc)
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        hints.ai_flags = AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, "\(port)", &hints, &list)
        guard code == 0 else {
            let text = String(cString: gai_strerror(code))
            throw [EAI_MEMORY, EAI_SYSTEM].contains(code) ? .hostFailure(text) : .notReached(text)
        }
        defer { freeaddrinfo(list) }
        var found: [PeerAddress] = []
        var next = list
        while let entry = next?.pointee, found.count < maximumCount {
            if let address = entry.ai_addr, [AF_INET, AF_INET6].contains(entry.ai_family) {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                found.append(PeerAddress(bytes: Array(bytes), family: entry.ai_family))
            }
            next = entry.ai_next
        }
        return found
    }

    /// Begins to connect a socket. Returns 0, or -1 with errno.
    ///
    /// connect(2)
    func connect(_ descriptor: CInt) -> CInt {
        bytes.withUnsafeBytes { bytes -> CInt in
            guard let start = bytes.baseAddress else { return -1 }
            let pointer = start.assumingMemoryBound(to: sockaddr.self)
            #if canImport(Glibc)
            return Glibc.connect(descriptor, pointer, socklen_t(bytes.count))
            #else
            return Darwin.connect(descriptor, pointer, socklen_t(bytes.count))
            #endif
        }
    }

    /// Whether the address is on the public Internet. Not public are, among others, loopback, private, link-local,
    /// carrier-grade NAT, documentation and multicast addresses, and NAT64 addresses that embed such an IPv4 address.
    ///
    /// The registries of RFC 6890
    var isPublic: Bool {
        switch family {
        case AF_INET where bytes.count >= 8: Self.isPublic(v4: Array(bytes[4..<8]))
        case AF_INET6 where bytes.count >= 24: Self.isPublic(v6: Array(bytes[8..<24]))
        default: false
        }
    }

    /// - Parameter address: four bytes.
    static func isPublic(v4 address: [UInt8]) -> Bool {
        switch (address[0], address[1], address[2]) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): false
        default: true
        }
    }

    /// - Parameter address: sixteen bytes.
    static func isPublic(v6 address: [UInt8]) -> Bool {
        let last = Array(address[12...])
        // A NAT64 address (RFC 6052) embeds an IPv4 address. All other global addresses are in 2000::/3.
        if address.starts(with: [0, 0x64, 0xFF, 0x9B, 0, 0, 0, 0, 0, 0, 0, 0]) { return isPublic(v4: last) }
        guard address[0] & 0xE0 == 0x20 else { return false }
        switch (address[0], address[1], address[2], address[3]) {
        case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0D, 0xB8), (0x20, 0x02, _, _), (0x3F, 0xFF, 0x00...0x0F, _):
            return false
        default: return true
        }
    }
}
