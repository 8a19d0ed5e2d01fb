import CMS
import Foundation
import Streams
import TestSupport
import Testing

/// A key pair from `certs/`.
struct Party {
    let certificate: Certificate
    let key: PrivateKey
    let folder: URL

    init(_ name: String) throws {
        folder = Fixtures.certs.appending(path: name)
        certificate = try Certificate(der: Self.decode(folder.appending(path: "cert.pem")))
        key = try PrivateKey(pkcs8: Self.decode(folder.appending(path: "key.pem")))
    }

    /// The first block of a PEM file.
    static func decode(_ url: URL) throws -> [UInt8] {
        let lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
        let block = lines.drop { !$0.hasPrefix("-----BEGIN") }.dropFirst().prefix { !$0.hasPrefix("-----END") }
        return try Array(base64: block.joined().utf8)
    }
}

/// Content for tests, of any length, without a period that a window could hide.
func sample(_ count: Int) -> [UInt8] {
    var state: UInt32 = 2_463_534_242
    return (0..<count).map { _ in
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        return UInt8(truncatingIfNeeded: state)
    }
}

extension ByteStream {
    init(_ bytes: [UInt8]) { self = MemorySource(bytes).stream() }

    /// The same bytes in reads of at most `size`.
    func inPieces(of size: Int) -> ByteStream {
        ByteStream { PieceReader(try makeReader(), size) }
    }

    func bytes() throws -> [UInt8] { try makeReader().readAll(limit: .max, orThrow: CancellationError()) }
}

private final class PieceReader: ByteReader {
    private let upstream: any ByteReader
    private let size: Int

    init(_ upstream: any ByteReader, _ size: Int) {
        self.upstream = upstream
        self.size = size
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try upstream.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer.prefix(size)))
    }
}
