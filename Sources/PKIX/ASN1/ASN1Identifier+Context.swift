package import SwiftASN1

extension ASN1Identifier {
    /// A context-specific tag, written `[n]` in the RFCs.
    package static func context(_ number: UInt) -> ASN1Identifier {
        ASN1Identifier(tagWithNumber: number, tagClass: .contextSpecific)
    }
}
