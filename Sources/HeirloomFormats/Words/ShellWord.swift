import HeirloomModel

/// Quotes for bash and zsh, if necessary.
///
/// Characters that messages escape are written in `$'…'`, as the numbers of their bytes.
package func shellWord(_ word: String) -> String {
  let isPlain = word.utf8.allSatisfy { byte in
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
      UInt8(ascii: "_"), UInt8(ascii: "+"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "="), UInt8(ascii: ","):
      true
    default: false
    }
  }
  // zsh expands a word that begins with "=".
  if isPlain && !word.isEmpty && !word.hasPrefix("=") { return word }
  // GitHub Actions interprets "##[" as a command.
  if PlainText.escaped(word, breaksLines: false) != word || word.contains("##[") { return escapedShellWord(word) }
  return "'" + word.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
}

private func escapedShellWord(_ word: String) -> String {
  let characters = word.unicodeScalars.map { scalar -> String in
    switch scalar {
    case "\n": "\\n"
    case "\t": "\\t"
    case "\\": "\\\\"
    case "'", "#": bytes([UInt8(scalar.value)])
    case " "..."~": String(scalar)
    default:
      // A byte of a file name that isn't UTF-8 is in a scalar of its own; see `PlainText`.
      bytes(scalar.value >= 0x10FF00 ? [UInt8(scalar.value & 0xFF)] : Array(String(scalar).utf8))
    }
  }
  return "$'" + characters.joined() + "'"
}

private func bytes(_ bytes: [UInt8]) -> String {
  bytes.map { "\\x" + ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}
