import Testing

/// The filter behind a third real mail server. OPENSMTPD_DEBS names a folder with its packages; scripts/test fetches them.
@Suite struct OpenSMTPDTests {
    @Test func `OpenSMTPD set up as docs/opensmtpd says runs no address as a command and signs for no other login`()
        throws
    {
        try TestProgram("Tests/MailServers/opensmtpd", seconds: 900).run()
    }
}
