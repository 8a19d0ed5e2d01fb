import ByteStreams
import Foundation
import InternetMessage
import TestSupport
import Testing

@Suite(.enabled(if: Fixtures.corpora != nil, "the corpora are not here")) struct CorpusTests {
    @Test func `every mail of the corpora is read in windows of any size, and has a transport-safe form`() throws {
        let corpora = try #require(Fixtures.corpora)
        let files = try #require(FileManager.default.enumerator(atPath: corpora.path)).compactMap { $0 as? String }
        var (messages, parts) = (0, 0)
        for file in files.sorted() where file.hasSuffix(".eml") || file.hasPrefix("mime-") {
            let path = corpora.appending(path: file).path
            guard let data = FileManager.default.contents(atPath: path), data.count < 200_000 else { continue }
            let (entity, source) = try parse(Array(data))
            let form = try SevenBitEncoding(of: entity, in: source)
            let sink = MemorySink()
            try form.write(to: sink)
            let again = try MIMEReader.message(in: MemorySource(sink.bytes))
            #expect(again.leaves == entity.leaves, "\(file)")
            if !form.needsEncoding { #expect(try entity.canonicalStream(of: source).all() == sink.bytes, "\(file)") }
            for changed in entity.header.variants(of: Array(data)) {
                let known = try MIMEReader.message(in: changed, afterChangeTo: entity)
                #expect(try known.outline == MIMEReader.message(in: changed).outline, "\(file)")
            }
            _ = try entity.header.first("From").map { try AddressList(field: $0) }
            messages += 1
            parts += entity.leaves
        }
        print("FIGURE corpora: \(messages) messages, \(parts) leaves")
        #expect(messages > 100)
    }
}

extension Entity {
    fileprivate var leaves: Int { children.isEmpty ? 1 : children.map(\.leaves).reduce(0, +) }
}
