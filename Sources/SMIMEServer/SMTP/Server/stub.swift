extension SMTPServerSession {
    mutating func nextEvent() -> Event? { nil }
    mutating func acceptMessage() {}
    mutating func refuseMessage(_ reply: SMTPReply) {}
    mutating func finishMessage(_ replies: [SMTPReply]) {}
    mutating func end(with reply: SMTPReply) {}
}
