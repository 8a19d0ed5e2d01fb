import Foundation
import TestSupport
import Testing

/// The command in a root folder without /proc.
@Suite struct MissingProcTests {
    @Test func `without /proc the command reports that it cannot read its arguments`() throws {
        let shell = CommandRunner("unshare")
        let unmount = ["--mount", "sh", "-c", "umount -l /proc && exec \"$0\" \"$@\""]
        guard try shell.run(unmount + ["true"]).status == 0 else {
            print("note: skipped, /proc cannot be unmounted here")
            return
        }
        guard !Tool.isSanitized else {
            print("note: skipped, the command was built with a sanitizer, which reads its options from /proc")
            return
        }
        let result = try shell.run(unmount + [Tool.smime().path, "filter", "outgoing", "--stdout"])
        #expect(result.status == 75)
        #expect(result.standardOutput.isEmpty)
        #expect(
            result.errorText == """
                smime: error: cannot read the command line
                smime: hint: mount /proc where this runs

                """
        )
    }
}
