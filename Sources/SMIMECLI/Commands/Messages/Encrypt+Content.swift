import ByteStreams
import Foundation
import InternetMessage
import SMIME
import SMIMEAgent
import SMIMEStore

extension SMIMECommand.Encrypt {
    /// Writes a CMS object with the content of the file at `path`, without MIME around it.
    func encryptContent(_ path: String, _ common: EncryptionContext) async throws -> [EncryptedFile] {
        let content = try protection.content(
            of: path,
            isText: text,
            fields: textFields,
            readsHeader: to.isEmpty || signing.from == nil,
            measured: { files.measured($0, passes: 1) }
        )
        // If From contains exactly one address, the author's account is used. A file need not have an author.
        let author = content.header.flatMap { try? MailAuthor(of: $0)?.address }
        try checkHiddenRecipients(content.header, of: path, common)
        let store = try await common.opening.store()
        let account = try await store.accounts.summary(of: signing.from ?? author)
        let header = try content.header ?? HeaderBlock(parsing: [])
        let copies = try await copies(plan(common, lookup(common, store)), of: header, by: author, account)
        return try write(copies, of: path, common.secret) { copy, sink in
            try protection.write(to: sink) {
                try content.protector.encrypt(
                    to: copy.negotiation.recipients,
                    secrets: [common.secret].compactMap(\.self),
                    cipher: copy.negotiation.cipher,
                    to: $0
                )
            }
        }
    }

    /// Rejects mail with a Bcc field, because every recipient could read that field.
    private func checkHiddenRecipients(_ header: HeaderBlock?, of path: String, _ common: EncryptionContext) throws {
        guard to.isEmpty, common.secret == nil, let header,
            header.fields.contains(where: { $0.namesHiddenRecipients && !$0.value.isEmpty })
        else { return }
        throw Failure(
            .usage,
            "\(InputFile.name(path)): a bare CMS object keeps the Bcc field, so every recipient could read it",
            hints: ["name the recipients with --to, or leave out --outform to make a mail"]
        )
    }
}
