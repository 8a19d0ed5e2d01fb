import Foundation
import PKIX
import TestSupport
import Testing

extension Certificate {
    /// The first certificate of a file below `certs/`.
    init(fixture path: String) throws {
        self = try #require(try Self.all(fixture: path).first)
    }

    /// Every certificate of a file below `certs/`.
    static func all(fixture path: String) throws -> [Certificate] {
        let bytes = try Fixtures.cert(path)
        return try bytes.isEmpty
            ? []
            : KeyMaterial.read(bytes).compactMap { item in
                if case .certificate(let certificate) = item { certificate } else { nil }
            }
    }
}

extension CertificateFactory {
    /// The certificate in NAME.pem.
    func certificate(_ name: String) throws -> Certificate {
        let items = try KeyMaterial.read(bytes("\(name).pem"))
        return try #require(items.compactMap { if case .certificate(let found) = $0 { found } else { nil } }.first)
    }
}

extension Date {
    static let in2020 = Date(timeIntervalSince1970: 1_590_969_600)  // 2020-06-01
}
