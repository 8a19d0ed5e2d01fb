import SwiftASN1

extension ASN1Error {
    /// A description of the error for users. The error's own description names source files of swift-asn1.
    var words: String {
        switch code {
        case .invalidASN1IntegerEncoding: "an INTEGER that is empty or longer than it must be"
        case .invalidASN1Object: "an element with content that its type does not allow"
        case .invalidStringRepresentation: "a string with characters that its type does not have"
        case .tooFewOIDComponents: "an OBJECT IDENTIFIER that is too short"
        case .truncatedASN1Field: "an element that is cut off"
        case .unexpectedFieldType: "an element of the wrong type"
        case .unsupportedFieldLength: "an element whose length is too large or badly encoded"
        default: "not ASN.1"
        }
    }
}
