import COpenSSL

/// One HTTP request over an open connection, and its response, which must be one DER element.
///
/// libcrypto: `OSSL_HTTP_transfer`, called so that it neither connects nor follows redirections.
package struct HTTPExchange: Sendable {
    /// The host in the URL, and its port unless that is the default port.
    package let host: String
    /// The path and query of the request; printable ASCII without spaces.
    package let path: String
    /// The body to send by POST and its media type; nil for a GET request.
    package let content: (type: String, bytes: [UInt8])?
    /// The media type that the response must have; nil accepts any media type.
    package let expectedType: String?
    /// The maximum size of the response in bytes.
    package let maximumCount: Int

    package init(
        host: String,
        path: String,
        content: (type: String, bytes: [UInt8])? = nil,
        expectedType: String? = nil,
        maximumCount: Int
    ) {
        self.host = host
        self.path = path
        self.content = content
        self.expectedType = expectedType
        self.maximumCount = maximumCount
    }

    /// Sends the request over the connected socket `descriptor` and returns the response's body.
    ///
    /// The socket stays open. The call blocks until the response is complete, the peer closes the connection, or `seconds`
    /// have passed. To end the call sooner, shut the socket down.
    package func perform(over descriptor: CInt, seconds: Int) throws(OpenSSLError) -> [UInt8] {
        Libcrypto.start()
        ERR_clear_error()
        let question = try content.map { content throws(OpenSSLError) in try Self.memory(content.bytes) }
        defer { question.map { _ = BIO_free($0) } }
        // The socket needs two BIOs: if there is only one, libcrypto would open a connection itself.
        let writer = try Owned<BIO>(BIO_new_socket(descriptor, BIO_NOCLOSE), "BIO_new_socket")
        let reader = try Owned<BIO>(BIO_new_socket(descriptor, BIO_NOCLOSE), "BIO_new_socket")
        let answer = try withPointers(writer, reader) { writer, reader throws(OpenSSLError) in
            try Owned<BIO>(
                OSSL_HTTP_transfer(
                    nil,
                    host,
                    nil,
                    path,
                    0,
                    nil,
                    nil,
                    writer,
                    reader,
                    nil,
                    nil,
                    0,
                    nil,
                    content?.type,
                    question,
                    expectedType,
                    1,
                    maximumCount,
                    CInt(clamping: seconds),
                    0
                ),
                "OSSL_HTTP_transfer"
            )
        }
        return answer.withPointer { answer in
            var data: UnsafePointer<CChar>?
            let count = smime_BIO_get_mem_data(answer, &data)
            return Array(UnsafeRawBufferPointer(start: data, count: max(0, count)))
        }
    }

    private static func memory(_ bytes: [UInt8]) throws(OpenSSLError) -> OpaquePointer {
        guard let bio = BIO_new(BIO_s_mem()) else { throw OpenSSLError("BIO_new") }
        guard BIO_write(bio, bytes, CInt(clamping: bytes.count)) == CInt(clamping: bytes.count) else {
            BIO_free(bio)
            throw OpenSSLError("BIO_write")
        }
        return bio
    }
}
