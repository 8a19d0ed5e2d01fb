import Foundation
import TestSupport
import Testing

/// Every class of hostile PKCS#12 file, imported with the command.
@Suite struct PKCS12VerdictTests {
    @Test(arguments: PKCS12Cases.all)
    func `PKCS#12 file`(_ item: PKCS12Cases.Case) throws {
        let bytes = try item.bytes()
        try Seeds.keep(bytes, as: item.name, for: "pkcs12")
        let home = try CommandEnvironment()
        let file = home.folder.appending(path: "file.p12")
        try Data(bytes).write(to: file)
        let result = try home.run(
            ["import", file.path, "--json", "--password-env", "PASSWORD"],
            environment: ["PASSWORD": item.password]
        )
        #expect(!result.isTimeout && result.signal == nil)
        let list = try home.run(["list", "--json"]).text
        let holdsKey = list.contains("\"fingerprint\"")
        switch item.expected {
        case .accept(let codes), .warn(let codes):
            #expect(result.status == 0, "\(result.errorText)")
            #expect(holdsKey)
            if case .warn = item.expected { #expect(result.text.contains("\"code\"") || !result.errorText.isEmpty) }
            for code in codes { #expect((result.text + result.errorText).contains(code), "\(result.text)") }
        case .reject(let status, _):
            #expect(result.status != 0)
            if let status { #expect(result.status == status, "\(result.errorText)") }
            #expect(!holdsKey)
        }
        // No name in the file may send control characters to a terminal.
        let said = try (result.standardOutput + result.standardError) + home.run(["account", "list"]).standardOutput
        #expect(!said.contains { $0 < 0x20 && $0 != 10 || $0 == 0x7F })
        #expect(!String(decoding: said, as: UTF8.self).contains("\u{202E}"))
    }
}
