import Foundation
import InternetMessage
import PKIX
import SMIME

extension VerificationReport {
    /// The lines that follow the verdict's sentence: the axes, and further remarks for the reader. With `details`, also each
    /// layer and signer with all findings.
    ///
    /// - Parameters:
    ///   - descriptor: the stream on which the lines are shown. For a terminal, they are wrapped at blanks.
    ///   - taken: the number of columns of each line that the caller uses.
    func lines(
        below verdict: VerdictSentence,
        details: Bool,
        on descriptor: Int32 = STDOUT_FILENO,
        taken: Int = 0
    ) -> [String] {
        let width = Terminal.width(descriptor).map { $0 - taken }
        func shown(_ rows: [ReportRow]) -> [String] { rows.flatMap { $0.lines(width: width) } }
        var lines = [verdict.axesLine()].compactMap(\.self)
            .flatMap { line in width.map { WrappedText(line, width: $0).lines } ?? [line] }
        guard details else { return lines + shown(verdict.remarks.map { $0.row() }) }
        // What is encrypted may be signed inside.
        let isUnopened = status == .unsigned && undecrypted != nil
        let word = isUnopened ? "not checked" : status.rawValue
        let part = coverage == .part ? ", a part of the message only" : ""
        lines += shown([ReportRow("verdict", value: word + part)])
        // A signature that is not valid protects nothing, but "unprotected" would be read as "not signed".
        if summary != .unprotected || signers.isEmpty {
            lines += shown([ReportRow("summary", value: summary.rawValue)])
        }
        lines += layerLines(on: descriptor, taken: taken)
        if let headers, isHeaderKnown { lines += shown(headers.rows) }
        for (index, layer) in layers.enumerated() {
            let place = layers.count > 1 ? place(of: layer, at: index) : nil
            for signer in layer.signers { lines += shown(signer.rows(place: place)) }
        }
        return lines + shown(problems.map { $0.row() })
    }

    /// The layers as a tree.
    private func layerLines(on descriptor: Int32, taken: Int) -> [String] {
        guard !layers.isEmpty else { return [] }
        var tree = TextTree("layers", indent: "  ")
        for (level, layer) in Self.levels(of: layers) {
            tree.add(text(of: layer), level: level + 1)
            // Errors are shown with the signer whose signature they affect.
            for problem in layer.problems where problem.level == .warning {
                tree.add("\(problem.level.rawValue): \(problem.text) (\(problem.code))", level: level + 2)
            }
        }
        return tree.lines(on: descriptor, taken: taken)
    }

    /// The layers with their levels in the tree. An inner layer is one level below the outer layer; the parts of a message
    /// are on the same level.
    static func levels(of layers: [Layer]) -> [(level: Int, layer: Layer)] {
        var level = 0
        return layers.map { layer in
            defer { if !layer.isPart { level += 1 } }
            return (level, layer)
        }
    }

    /// A description of a layer: its kind and algorithm, or its signers; and whether it is inside or outside the encryption.
    func text(of layer: Layer) -> String {
        guard layer.kind == .signed else { return "\(layer.kind.rawValue) with \(layer.algorithm)" }
        let claims = layer.signers.map(\.claim)
        let who = claims.isEmpty ? "a signed object without signers" : claims.joined(separator: "; ")
        return "\(who)\(side(of: layer).map { ", \($0)" } ?? "")"
    }

    /// The text that says whether a layer is inside or outside the encryption; nil if the layer covers only a part of the
    /// message, or if the message as a whole is not encrypted.
    func side(of layer: Layer) -> String? {
        if layer.isInsideEncryption { return "inside the encryption" }
        let isEncrypted = layers.contains { $0.kind.isEncryption && !$0.isPart }
        return isEncrypted && !layer.isPart ? "outside the encryption" : nil
    }

    /// A description of the place of a signature's layer, and whether the signature affects the verdict.
    private func place(of layer: Layer, at index: Int) -> String {
        let words = [
            "layer \(index + 1) of \(layers.count)", side(of: layer), layer.isPart ? "a part of the message" : nil,
            layer.isDecisive ? nil : "the verdict does not depend on it",
        ]
        return words.compactMap(\.self).joined(separator: ", ")
    }
}

extension HeaderReport {
    /// The protected fields, and the outer fields that differ from them or are additional.
    fileprivate var rows: [ReportRow] {
        let lists = [("signed", signed), ("encrypted", hidden)].filter { !$1.isEmpty }
        return lists.map { ReportRow("header", value: "\($0): \($1.listedForDisplay)") }
            + differing.map { Self.row($0, value: "\(values[$0] ?? ""); outside: \(outside[$0] ?? "nothing")") }
            + added.filter(ProtectedHeader.isUserFacing).map {
                Self.row($0, value: "outside only: \(outside[$0] ?? "")")
            }
    }

    private static func row(_ name: String, value: String) -> ReportRow {
        ReportRow(name, value: value.replacing("\n", with: ", "))
    }
}

extension VerificationReport.Signer {
    fileprivate func rows(place: String?) -> [ReportRow] {
        var rows = [ReportRow("signer", value: certificate.map { "\($0.subject)" } ?? "unknown")]
        if let place { rows.append(ReportRow("signs", value: place)) }
        if let certificate {
            rows.append(ReportRow("addresses", value: certificate.reportedAddresses.joined(separator: ", ")))
            rows.append(ReportRow("certificate", value: "\(certificate.fingerprint)"))
        }
        if let signingTime { rows.append(ReportRow("signed at", value: signingTime.timestamp)) }
        rows.append(ReportRow("signature", value: "\(signature) with \(digest)"))
        for (name, axis, isUnknown) in axes {
            let verdict = axis.ok.map { $0 ? isUnknown ? "unknown" : "ok" : "FAILED" } ?? "not checked"
            rows.append(ReportRow(name, value: verdict))
            rows += axis.problems.map { $0.row(level: 1) }
        }
        return rows
    }

    /// The five axes with their names, and whether the result of each is unknown.
    var axes: [(name: String, axis: VerificationReport.Axis, isUnknown: Bool)] {
        // The certificate names the sender, but may belong to a forger.
        let isUnproven = identity.ok == true && !(integrity.holds && chain.holds)
        return [
            ("integrity", integrity, false), ("chain", chain, chain.ok == true && !integrity.holds),
            ("identity", identity, isUnproven),
            ("revocation", revocation, isRevocationUnknown), ("time", time, false),
        ]
    }
}

extension Problem {
    /// - Parameter level: 1 for a row below the axis that the problem affects.
    fileprivate func row(level: Int = 0) -> ReportRow {
        ReportRow(remark: "\(text) (\(code))", label: self.level.rawValue, level: level)
    }
}
