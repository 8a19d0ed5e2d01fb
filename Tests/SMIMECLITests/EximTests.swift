import Testing

/// The filter behind another real mail server. EXIM_DEBS names a folder with its packages; scripts/test fetches them.
@Suite struct EximTests {
    @Test func `Exim set up as docs/exim says signs, encrypts, bounces, waits and judges`() throws {
        try TestProgram("Tests/MailServers/exim", seconds: 600).run()
    }
}
