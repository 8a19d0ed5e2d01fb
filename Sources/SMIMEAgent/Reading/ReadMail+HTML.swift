import Foundation
import InternetMessage
package import LibCrypto
import SMIME

extension ReadMail {
    /// The message as one HTML page that loads nothing, runs nothing and has no links.
    ///
    /// Each text is in its own frame without any permissions, reduced to words and their arrangement. The verdict on the text
    /// is outside the frame, where the mail cannot write.
    ///
    /// CSP Level 3; HTML Living Standard §4.8.5
    ///
    /// - Throws: `OpenSSLError` if libcrypto has no SHA-256.
    package func page() throws(OpenSSLError) -> String {
        let hash = Data(try DigestAlgorithm.sha256.digest(Array(Self.style.utf8))).base64EncodedString()
        // The title begins with "Mail", so that in the browser's list of windows the subject cannot pose as another
        // page.
        let subject = shownFields.first { $0.name == "Subject" }?.value
        let title = "Mail" + (subject.map { ": \($0)" } ?? "")
        var lines = [
            "<!DOCTYPE html>", "<html lang=\"en\">", "<head>", "<meta charset=\"utf-8\">",
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'sha256-\(hash)'; form-action 'none'; base-uri 'none'\">",
            "<meta name=\"referrer\" content=\"no-referrer\">",
            "<meta name=\"viewport\" content=\"width=device-width\">", "<title>\(title.escapedForHTML)</title>",
            "<style>\(Self.style)</style>", "</head>", "<body>", Self.line(verdict),
        ]
        lines += allRemarks.map { "<p class=\"remark\">\($0.asDisplayedLine.escapedForHTML)</p>" }
        lines.append("<table>")
        lines += shownFields.map { "<tr><th>\($0.name)</th><td>\($0.value.escapedForHTML)</td></tr>" }
        lines.append("</table>")
        lines += message.parts.flatMap(section)
        if message.isCut { lines.append("<p>There are more parts, which are not shown.</p>") }
        return (lines + ["</body>", "</html>"]).joined(separator: "\n") + "\n"
    }

    private static func line(_ verdict: ReadVerdict) -> String {
        "<p class=\"verdict \(verdict.tone.rawValue)\">\(verdict.sentence.asDisplayedLine.escapedForHTML)</p>"
    }

    private func section(_ part: ReadableMessage.Part) -> [String] {
        let label = part.content.label ?? "text"
        return ["<section>", "<h2>Part \(part.section), \(label.escapedForHTML)</h2>", Self.line(verdict(on: part))]
            + frame(part.content) + ["</section>"]
    }

    private func frame(_ content: ReadableMessage.Content) -> [String] {
        switch content {
        case .attachment, .damaged, .encrypted: return []
        case .body(let plain, let html?) where plain == nil || !html.isLeftOut:
            return [Self.frame(MailHTML(html.text).safe, lines: Self.lineCount(html.text))] + Self.paragraphs(on: html)
        case .body(let plain, _):
            let text = (plain?.text ?? "").withoutTerminalControls
            return [Self.frame(Self.preformatted(text), lines: Self.lineCount(text))]
                + (plain.map(Self.paragraphs) ?? [])
        case .message(let fields):
            let text = fields.map { "\($0.name): \($0.value.asDisplayedLine)" }.joined(separator: "\n")
            return [Self.frame(Self.preformatted(text), lines: fields.count)]
        }
    }

    private static func preformatted(_ text: String) -> String { "<pre>\(text.escapedForHTML)</pre>" }

    private static func paragraphs(on text: BodyText) -> [String] {
        notes(on: text).map { "<p>\($0.prefix(1).uppercased())\($0.dropFirst()).</p>" }
    }

    /// A frame around `content`. Frames inherit the page's security policy. For browsers in which they do not, the
    /// frame has a policy of its own, which forbids all loading.
    private static func frame(_ content: String, lines: Int) -> String {
        let policy = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'\">"
        let document = "<!DOCTYPE html><html><head>\(policy)</head><body>\(content)</body></html>"
        let height = min(max(lines, 4) * 22 + 40, 800)
        return
            "<iframe sandbox=\"\" referrerpolicy=\"no-referrer\" title=\"the mail's own text\" width=\"100%\" height=\"\(height)\" srcdoc=\"\(document.escapedForHTML)\"></iframe>"
    }

    private static func lineCount(_ text: String) -> Int { text.utf8.count { $0 == 0x0A } }

    /// The style sheet. It colors the verdict, and distinguishes the words of smime from those of the mail.
    private static let style = """
        body{font-family:sans-serif;max-width:60em;margin:1em auto;padding:0 1em}\
        .verdict{padding:.5em;border-left:.5em solid #888;background:#eee;color:#000}\
        .good{border-color:#080;background:#dfd}.bad{border-color:#b00;background:#fdd}\
        h2{font-size:1em}th{text-align:left;vertical-align:top;padding-right:1em}iframe{border:1px solid #888;background:#fff}
        """
}
